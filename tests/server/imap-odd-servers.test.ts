import { describe, expect, test } from 'vitest';
import type { OauthProvider } from '../../src/contract/provider.ts';
import { listMailbox } from '../../src/server/mail/copy/listing.ts';
import { MailError } from '../../src/server/mail/imap/mail-error.ts';
import type { Appended, NewMessage } from '../../src/server/mail/imap/streams.ts';
import { openStreamReader } from '../../src/server/mail/imap/wire/imap-stream-reader.ts';
import { openStreamWriter } from '../../src/server/mail/imap/wire/imap-stream-writer.ts';
import { openSession } from '../../src/server/mail/imap/wire/session.ts';
import { gathered, inPieces, newMessage, octetsOf } from '../support/imap-session.ts';
import { scriptedServer, scriptedSession, type Script, type Stage } from '../support/scripted-imap.ts';

async function reading(script: Script, options?: { greeting?: string; capabilities?: string }) {
  const server = scriptedServer(script, options);
  const connection = await scriptedSession(server);
  return { reader: openStreamReader(connection), connection, ...server };
}

async function writing(script: Script, capabilities: string, provider?: OauthProvider) {
  const server = scriptedServer(script, { capabilities: `IMAP4rev1 SASL-IR AUTH=PLAIN ${capabilities}` });
  const connection = await scriptedSession(server);
  const writer = openStreamWriter(connection, provider);
  const append = async (messages: readonly NewMessage[], together = true) => {
    const { sent, outcome } = writer.append('INBOX', inPieces(messages), { together });
    const [gone] = await Promise.allSettled([sent]);
    expect(gone.status === 'rejected' ? gone.reason : new MailError('lost', '')).toBeInstanceOf(MailError);
    return outcome;
  };
  return { writer, append, connection, ...server };
}

const isFetch = (line: string) => line.includes('FETCH');
const ROW = 'RFC822.SIZE 3 INTERNALDATE "01-Jan-2020 00:00:00 +0000" FLAGS (\\Seen)';

async function bodies(messages: AsyncIterable<{ uid: number; octets: AsyncIterable<Uint8Array> }>) {
  const found: [number, string][] = [];
  for await (const { uid, octets } of messages) found.push([uid, (await octetsOf(octets)).toString()]);
  return found;
}

describe('Reading from odd servers', () => {
  test('a server that gives the octets before the UID is asked for each message alone', async () => {
    const { reader, lines } = await reading((line, { tag, say }) => {
      if (!isFetch(line)) return false;
      const uid = Number(/UID FETCH (\d+)/.exec(line)?.[1]);
      if (line.includes('BODY') && line.includes(':'))
        say(`* 1 FETCH (BODY[] {3}\r\none UID 3 ${ROW})`, `* 2 FETCH (BODY[] {3}\r\ntwo UID 4 ${ROW})`);
      else if (line.includes('BODY')) say(`* ${uid - 2} FETCH (BODY[] {3}\r\n${uid === 3 ? 'one' : 'two'} UID ${uid})`);
      else say(`* ${uid - 2} FETCH (UID ${uid} ${ROW})`);
      say(`${tag} OK done`);
    });
    const found = await gathered(reader.fetch('INBOX', [3, 4]));
    expect(found.map(({ uid, flags, size }) => [uid, flags, size])).toEqual([
      [3, ['\\Seen'], 3],
      [4, ['\\Seen'], 3],
    ]);
    const asked = lines.length;
    expect(await bodies(reader.fetch('INBOX', [3, 4]))).toEqual([
      [3, 'one'],
      [4, 'two'],
    ]);
    // From then on nothing is asked for in the way that failed.
    expect(lines.slice(asked).filter((line) => line.includes(':'))).toEqual([]);
  });

  test('one message that a server can’t give keeps none of the others away', async () => {
    const { reader } = await reading((line, { tag, say }) => {
      if (!isFetch(line)) return false;
      const uid = /UID FETCH (\d+) /.exec(line)?.[1];
      if (uid === undefined)
        say(`* 1 FETCH (UID 3 ${ROW} BODY[] {3}\r\none)`, `${tag} NO Some messages could not be fetched`);
      else if (uid === '4') say(`${tag} NO broken`);
      else {
        say(line.includes('BODY') ? `* 3 FETCH (UID 5 BODY[] {5}\r\nthree)` : `* 3 FETCH (UID 5 ${ROW})`);
        say(`${tag} OK done`);
      }
    });
    expect(await bodies(reader.fetch('INBOX', [3, 4, 5]))).toEqual([
      [3, 'one'],
      [5, 'three'],
    ]);
  });

  test('what a fetch is refused for that is no message’s fault comes out', async () => {
    const { reader } = await reading((line, { tag, say }) => {
      if (!isFetch(line)) return false;
      say(`${tag} NO Request is throttled. Suggested Backoff Time: 299961 milliseconds`);
    });
    await expect(gathered(reader.fetch('INBOX', [3, 4]))).rejects.toMatchObject({ fault: 'busy', pause: 299_961 });
  });

  test('messages come as NIL, as a string, twice, unasked and with nothing in them', async () => {
    const { reader } = await reading((line, { tag, say }) => {
      if (!isFetch(line)) return false;
      say(
        '* 9 FETCH (FLAGS (\\Deleted))',
        '* 5 EXISTS',
        '',
        `* 1 FETCH (UID 3 ${ROW} BODY[] NIL)`,
        `* 2 FETCH (UID 4 ${ROW} BODY[] "abc")`,
        `* 3 FETCH (UID 5 ${ROW} BODY[] {0}\r\n)`,
        `* 4 FETCH (UID 6 ${ROW} BODY[] {3}\r\nsix FLAGS ())`,
        `* 4 FETCH (UID 6 ${ROW} BODY[] {3}\r\nsix)`,
        `* 5 FETCH (UID 99 ${ROW} BODY[] {3}\r\nnew)`,
        `* 6 FETCH (X ({2}\r\nab) UID {1}\r\n7 ${ROW} RFC822 {5}\r\nseven)`,
        `${tag} OK {3}`,
      );
    });
    expect(await bodies(reader.fetch('INBOX', [3, 4, 5, 6, 7]))).toEqual([
      [4, 'abc'],
      [6, 'six'],
      [7, 'seven'],
    ]);
  });

  test('a server that answers two fetches in turns holds up neither', async () => {
    const body = Buffer.alloc(300_000, 'x');
    const asked: { tag: string; uids: number[] }[] = [];
    const { reader } = await reading((line, { tag, say }) => {
      if (!isFetch(line)) return false;
      const [from = 0, to = 0] = (/FETCH (\d+):(\d+)/.exec(line) ?? []).slice(1).map(Number);
      asked.push({ tag, uids: Array.from({ length: to - from + 1 }, (_, index) => from + index) });
      // It waits a moment for another command before it answers, the newest first.
      setImmediate(() => {
        for (const each of asked.splice(0).toReversed()) {
          for (const uid of each.uids) say(`* ${uid} FETCH (UID ${uid} ${ROW} BODY[] {300000}`, body, ')');
          say(`${each.tag} OK done`);
        }
      });
    });
    await reader.open('INBOX');
    const fetches = [reader.fetch('INBOX', [3, 4]), reader.fetch('INBOX', [5, 6])];
    const uids: number[] = [];
    for (const fetch of fetches)
      for await (const { uid, octets } of fetch) if ((await octetsOf(octets)).equals(body)) uids.push(uid);
    expect(uids).toEqual([3, 4, 5, 6]);
  });

  test('messages that a listing leaves out are asked for again', async () => {
    const { reader, lines } = await reading((line, { tag, say }) => {
      if (line.includes('EXAMINE')) say('* 5 EXISTS', '* OK [UIDVALIDITY 7]', `${tag} OK done`);
      else if (!isFetch(line)) return false;
      else {
        const again = line.includes('FETCH 2,4:5 ');
        for (const n of again ? [2, 4] : [1, 3]) say(`* ${n} FETCH (UID ${n * 10} ${ROW})`);
        say(`${tag} OK done`);
      }
    });
    expect((await reader.open('INBOX')).exists).toBe(5);
    expect((await gathered(reader.list('INBOX'))).flat().map(({ uid }) => uid)).toEqual([10, 30, 20, 40]);
    expect(lines.filter(isFetch)).toHaveLength(2);
  });

  test('a mailbox is opened and listed in one round trip, and what is left out is asked for again', async () => {
    let opening = '';
    const { reader, lines } = await reading((line, { tag, say }) => {
      if (line.includes('EXAMINE')) opening = tag;
      else if (line.includes('UID FETCH 1:*'))
        // Neither is answered before both are asked for.
        say(
          '* 5 EXISTS',
          '* OK [UIDVALIDITY 7]',
          `${opening} OK done`,
          '* 1 FETCH (UID 10 FLAGS (\\Flagged))',
          `* 1 FETCH (UID 10 ${ROW})`,
          `* 1 FETCH (UID 10 ${ROW})`,
          `* 3 FETCH (UID 30 ${ROW})`,
          `${tag} OK done`,
        );
      else if (line.includes('FETCH 2,4:5 '))
        say(`* 2 FETCH (UID 20 ${ROW})`, `* 4 FETCH (UID 40 ${ROW})`, `${tag} OK done`);
      else return false;
    });
    const { opened, pages } = reader.openAndList('INBOX');
    expect((await opened).exists).toBe(5);
    expect((await gathered(pages)).flat().map(({ uid, size }) => [uid, size])).toEqual(
      [10, 30, 20, 40].map((uid) => [uid, 3]),
    );
    expect(lines.filter(isFetch)).toHaveLength(2);
  });

  test('mailboxes are opened and listed ahead, one after the other, and one that is refused spoils none', async () => {
    const answers: string[] = [];
    let open = '';
    const { reader, lines } = await reading((line, { tag, say }) => {
      const asked = /EXAMINE "(.*)"/.exec(line)?.[1];
      if (asked === undefined && !isFetch(line)) return false;
      open = asked ?? open;
      const number = Number(open.slice(4));
      if (asked === 'Box 2') answers.push(`${tag} NO closed`);
      else if (asked !== undefined) answers.push('* 1 EXISTS', `* OK [UIDVALIDITY ${number}]`, `${tag} OK done`);
      else if (open === 'Box 2') answers.push(`${tag} BAD Nothing is open`);
      else answers.push(`* 1 FETCH (UID ${number} ${ROW})`, `${tag} OK done`);
      // None is answered before all are asked for.
      if (isFetch(line) && open === 'Box 4') say(...answers.splice(0));
    });
    reader.listAhead(['Box 1', 'Box 2', 'Box 3', 'Box 4']);
    const found: unknown[] = [];
    for (const path of ['Box 1', 'Box 2', 'Box 3', 'Box 4']) {
      const { opened, pages } = reader.openAndList(path);
      try {
        const { uidValidity } = await opened;
        found.push([uidValidity, (await gathered(pages)).flat().map(({ uid }) => uid)]);
      } catch (error) {
        found.push(error instanceof MailError ? error.fault : error);
      }
    }
    expect(found).toEqual([[1n, [1]], 'refused', [3n, [3]], [4n, [4]]]);
    expect(lines.filter((line) => line.includes('EXAMINE'))).toHaveLength(4);
  });

  test('what was asked for ahead and is not read stands in nobody’s way', async () => {
    let open = '';
    const { reader, lines } = await reading((line, { tag, say }) => {
      const asked = /EXAMINE "(.*)"/.exec(line)?.[1];
      if (asked !== undefined) {
        open = asked;
        say(`* ${open === 'Short' ? 2 : 5000} EXISTS`, '* OK [UIDVALIDITY 7]', `${tag} OK done`);
      } else if (line.includes('SEARCH')) {
        say(`* SEARCH ${open === 'Short' ? '1 2' : '9'}`, `${tag} OK done`);
      } else if (isFetch(line)) {
        const count = open === 'Short' ? 1 : 5000;
        for (let n = 1; n <= count; n += 1) say(`* ${n} FETCH (UID ${n} ${ROW})`);
        say(`${tag} OK done`);
      } else return false;
    });
    reader.listAhead(['Short', 'Long', 'Also long']);
    const short = await listMailbox(reader, 'Short');
    expect({ listed: [...short.messages].map(({ uid }) => uid), unlisted: short.unlisted }).toEqual({
      listed: [1, 2],
      unlisted: 0,
    });
    expect((await listMailbox(reader, 'Long')).messages.length).toBe(5000);
    expect(lines.filter((line) => line.includes('EXAMINE')).map((line) => /"(.*)"/.exec(line)?.[1])).toEqual([
      'Short',
      'Long',
      'Also long',
      'Short',
      'Long',
    ]);
  });

  test('what is told twice of one mailbox is no row of the next one', async () => {
    let open = '';
    const { reader } = await reading((line, { tag, say }) => {
      const asked = /EXAMINE "(.*)"/.exec(line)?.[1];
      open = asked ?? open;
      if (asked !== undefined) say('* 3 EXISTS', '* OK [UIDVALIDITY 7]', `${tag} OK done`);
      else if (isFetch(line)) {
        const uids = open === 'A' ? [101, 102, 102, 103] : [201, 202, 203];
        for (const uid of uids) say(`* ${uid % 100} FETCH (UID ${uid} ${ROW})`);
        say(`${tag} OK done`);
      } else return false;
    });
    reader.listAhead(['A', 'B']);
    const listed: number[][] = [];
    for (const path of ['A', 'B'])
      listed.push((await gathered(reader.openAndList(path).pages)).flat().map(({ uid }) => uid));
    expect(listed).toEqual([
      [101, 102, 103],
      [201, 202, 203],
    ]);
  });

  test('a mailbox in which messages go while several are listed is not believed, and the next one is', async () => {
    let open = '';
    const { reader } = await reading((line, { tag, say }) => {
      const asked = /EXAMINE "(.*)"/.exec(line)?.[1];
      open = asked ?? open;
      const row = (number: number, uid: number) => say(`* ${number} FETCH (UID ${uid} ${ROW})`);
      if (asked !== undefined) say(`* ${asked === 'A' ? 5 : 3} EXISTS`, '* OK [UIDVALIDITY 7]', `${tag} OK done`);
      else if (isFetch(line)) {
        if (open === 'A') {
          for (const number of [1, 2, 3]) row(number, 100 + number);
          say('* 2 EXPUNGE');
          for (const number of [3, 4]) row(number, 101 + number);
          say('* 5 EXISTS');
          row(5, 106);
        } else for (const number of [1, 2, 3]) row(number, 200 + number);
        say(`${tag} OK done`);
      } else return false;
    });
    reader.listAhead(['A', 'B']);
    await expect(listMailbox(reader, 'A')).rejects.toMatchObject({ fault: 'lost' });
    const { messages, unlisted } = await listMailbox(reader, 'B');
    expect({ uids: [...messages].map(({ uid }) => uid), unlisted }).toEqual({ uids: [201, 202, 203], unlisted: 0 });
  });

  test('a short listing of a mailbox that is asked for twice waits for nothing', async () => {
    const { reader } = await reading((line, { tag, say }) => {
      if (line.includes('EXAMINE')) say('* 3000 EXISTS', '* OK [UIDVALIDITY 7]', `${tag} OK done`);
      else if (line.includes('UID FETCH 1:*')) {
        for (let n = 1; n < 3000; n += 1) say(`* ${n} FETCH (UID ${n} ${ROW})`);
        say(`${tag} OK done`);
      } else if (isFetch(line)) say(`* 3000 FETCH (UID 3000 ${ROW})`, `${tag} OK done`);
      else return false;
    });
    reader.listAhead(['Twice', 'Twice']);
    const counts: number[] = [];
    for (let time = 1; time <= 2; time += 1)
      counts.push((await gathered(reader.openAndList('Twice').pages)).flat().length);
    // What the first one lacks is for whoever asks again.
    expect(counts).toEqual([2999, 3000]);
  });

  test('an empty mailbox, in which a server has nothing to list, is empty', async () => {
    const { reader } = await reading((line, { tag, say }) => {
      if (line.includes('EXAMINE')) say('* 0 EXISTS', '* OK [UIDVALIDITY 7]', `${tag} OK done`);
      else if (isFetch(line)) say(`${tag} BAD No messages`);
      else return false;
    });
    const { opened, pages } = reader.openAndList('INBOX');
    expect((await opened).exists).toBe(0);
    expect(await gathered(pages)).toEqual([]);
  });

  test('of a mailbox that can not be opened nothing is believed, though the server goes on with the one before', async () => {
    const { reader } = await reading((line, { tag, say }) => {
      if (line.includes('EXAMINE') && line.includes('Closed')) say(`${tag} NO closed`);
      else if (line.includes('EXAMINE')) say('* 1 EXISTS', '* OK [UIDVALIDITY 7]', `${tag} OK done`);
      else if (isFetch(line)) say(`* 1 FETCH (UID 10 ${ROW})`, `${tag} OK done`);
      else return false;
    });
    await reader.open('INBOX');
    const { opened, pages } = reader.openAndList('Closed');
    await expect(opened).rejects.toMatchObject({ fault: 'refused' });
    await expect(gathered(pages)).rejects.toMatchObject({ fault: 'refused' });
    const again = reader.openAndList('INBOX');
    expect((await again.opened).exists).toBe(1);
    expect((await gathered(again.pages)).flat().map(({ uid }) => uid)).toEqual([10]);
  });

  test('what a server hands out of a mailbox that it has refused to open is passed over, however much it is', async () => {
    const body = Buffer.alloc(300_000, 'x');
    const { reader } = await reading((line, { tag, say }) => {
      if (line.includes('EXAMINE') && line.includes('Closed')) say(`${tag} NO closed`);
      else if (isFetch(line)) {
        for (const uid of [3, 4, 5]) say(`* ${uid} FETCH (UID ${uid} ${ROW} BODY[] {300000}`, body, ')');
        say(`${tag} OK done`);
      } else return false;
    });
    await reader.open('INBOX');
    const opened = reader.open('Closed');
    const fetched = reader.fetch('Closed', [3, 4, 5]);
    await expect(opened).rejects.toMatchObject({ fault: 'refused' });
    await expect(gathered(fetched)).rejects.toMatchObject({ fault: 'refused' });
    const uids: number[] = [];
    for await (const { uid, octets } of reader.fetch('INBOX', [3, 4, 5]))
      if ((await octetsOf(octets)).equals(body)) uids.push(uid);
    expect(uids).toEqual([3, 4, 5]);
  });

  test('nor is it believed when it comes together with the refusal', async () => {
    let refusal = '';
    const { reader } = await reading((line, { tag, say }) => {
      if (line.includes('EXAMINE') && line.includes('Closed')) refusal = `${tag} NO closed\r\n`;
      else if (isFetch(line))
        say(Buffer.from(`${refusal}* 1 FETCH (UID 3 ${ROW} BODY[] {3}\r\nabc)\r\n${tag} OK done\r\n`));
      else return false;
    });
    await reader.open('INBOX');
    await expect(bodies(reader.fetch('Closed', [3]))).rejects.toMatchObject({ fault: 'refused' });
    refusal = '';
    expect(await bodies(reader.fetch('INBOX', [3]))).toEqual([[3, 'abc']]);
  });

  test('what has come and is not wanted any more stands in nobody’s way', async () => {
    const body = Buffer.alloc(50_000, 'x');
    const { reader } = await reading((line, { tag, say }) => {
      if (!isFetch(line)) return false;
      const [from = 0, to = 0] = (/FETCH (\d+):(\d+)/.exec(line) ?? []).slice(1).map(Number);
      for (let uid = from; uid <= to; uid += 1) say(`* ${uid} FETCH (UID ${uid} ${ROW} BODY[] {50000}`, body, ')');
      say(`${tag} OK done`);
    });
    await reader.open('INBOX');
    for (const uids of [
      [3, 4],
      [5, 6],
    ]) {
      const fetched = reader.fetch('INBOX', uids)[Symbol.asyncIterator]();
      // It comes as a whole, and nobody looks at it.
      for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
      await fetched.return?.();
    }
    const uids: number[] = [];
    for await (const { uid, octets } of reader.fetch('INBOX', [7, 8, 9]))
      if ((await octetsOf(octets)).equals(body)) uids.push(uid);
    expect(uids).toEqual([7, 8, 9]);
  });

  test('a mailbox that counts more than can be listed is refused, and one in which messages go is not believed', async () => {
    let exists = 5_000_001;
    const { reader } = await reading((line, { tag, say }) => {
      if (line.includes('EXAMINE')) say(`* ${exists} EXISTS`, '* OK [UIDVALIDITY 7]', `${tag} OK done`);
      else if (isFetch(line))
        say(`* 1 FETCH (UID 10 ${ROW})`, '* 1 EXPUNGE', `* 2 FETCH (UID 20 ${ROW})`, `${tag} OK done`);
      else return false;
    });
    await expect(gathered(reader.openAndList('INBOX').pages)).rejects.toMatchObject({ fault: 'refused' });
    exists = 2;
    await expect(gathered(reader.openAndList('INBOX').pages)).rejects.toMatchObject({ fault: 'lost' });
  });

  test('no command names more messages than the server takes', async () => {
    const { reader, lines } = await reading(
      (line, { tag, say }) => {
        if (line.includes('EXAMINE')) say('* 7 EXISTS', '* OK [UIDVALIDITY 7]', `${tag} OK done`);
        else if (!isFetch(line)) return false;
        else {
          const [from, to] = (/ FETCH (\d+):?(\d*) /.exec(line) ?? []).slice(1).map(Number);
          for (let n = from ?? 0; n <= (to === 0 ? (from ?? 0) : (to ?? 0)); n++) say(`* ${n} FETCH (UID ${n} ${ROW})`);
          say(`${tag} OK done`);
        }
      },
      { capabilities: 'IMAP4rev1 SASL-IR AUTH=PLAIN MESSAGELIMIT=3' },
    );
    const uids = async (pages: ReturnType<typeof reader.list>) => (await gathered(pages)).flat().map(({ uid }) => uid);
    expect(await uids(reader.list('INBOX'))).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(await uids(reader.list('INBOX', 5))).toEqual([5, 6, 7]);
    expect(await uids(reader.look('INBOX', [2, 3, 4, 5]))).toEqual([2, 3, 4, 5]);
    expect(
      lines.filter(isFetch).map((line) => line.split(' ').find((word) => word.includes(':') || word === '7')),
    ).toEqual(['1:3', '4:6', '7:7', '1:3', '4:6', '7:7', '2:4', undefined]);
  });

  test('a listing in which messages go is not believed', async () => {
    const { reader } = await reading((line, { tag, say }) => {
      if (!isFetch(line)) return false;
      say(`* 1 FETCH (UID 10 ${ROW})`, '* 1 EXPUNGE', `* 1 FETCH (UID 20 ${ROW})`, `${tag} OK done`);
    });
    await expect(gathered(reader.list('INBOX'))).rejects.toMatchObject({ fault: 'lost' });
  });

  test('nothing is read from a mailbox that has another UIDVALIDITY than before', async () => {
    let opened = 0;
    const { reader } = await reading((line, { tag, say }) => {
      if (line.includes('EXAMINE')) say('* 1 EXISTS', `* OK [UIDVALIDITY ${++opened === 3 ? 8 : 7}]`, `${tag} OK done`);
      else if (isFetch(line)) say(`* 1 FETCH (UID 3 ${ROW} BODY[] {3}\r\none)`, `${tag} OK done`);
      else return false;
    });
    await reader.open('A');
    await reader.open('B');
    await expect(gathered(reader.fetch('A', [3]))).rejects.toMatchObject({ fault: 'lost' });
  });

  test('a mailbox without UIDVALIDITY is refused, one without UIDNEXT is not', async () => {
    let validity = '';
    const { reader } = await reading((line, { tag, say }) => {
      if (line.includes('EXAMINE')) say('* 1 EXISTS', `* OK ${validity}`, `${tag} OK`);
      else if (line.includes('STATUS')) say('* STATUS a mailbox (x) (MESSAGES 4 UIDVALIDITY 3)', `${tag} OK`);
      else return false;
    });
    await expect(reader.open('INBOX')).rejects.toMatchObject({ fault: 'refused' });
    validity = '[UIDVALIDITY 9223372036854775808]';
    await expect(reader.open('INBOX')).rejects.toMatchObject({ fault: 'refused' });
    for (const greatest of [4_294_967_295n, 9_223_372_036_854_775_807n]) {
      validity = `[UIDVALIDITY ${greatest}]`;
      expect(await reader.open('INBOX')).toEqual({ uidValidity: greatest, exists: 1 });
    }
    expect(await reader.status('INBOX')).toEqual({ uidValidity: 3n, exists: 4 });
  });

  test('search results come in either form', async () => {
    let found = '* SEARCH 3 5 8 (MODSEQ 9)';
    const { reader } = await reading((line, { tag, say }) => {
      if (!line.includes('SEARCH')) return false;
      if (found !== '') say(found);
      say(`${tag} OK`);
    });
    expect(await reader.search('INBOX')).toEqual([3, 5, 8]);
    found = '* ESEARCH (TAG "A4") UID ALL 3:5,8';
    expect(await reader.search('INBOX')).toEqual([3, 4, 5, 8]);
    found = '* ESEARCH (TAG "A5") UID';
    expect(await reader.search('INBOX')).toEqual([]);
    found = '';
    expect(await reader.search('INBOX')).toEqual([]);
    found = '* ESEARCH (TAG "A6") UID ALL 1:4294967295';
    await expect(reader.search('INBOX')).rejects.toMatchObject({ fault: 'lost' });
  });

  test.each<[string, string, Partial<MailError>]>([
    ['* BYE Session expired, please login again', 'lost', {}],
    ['* BYE [UNAVAILABLE] later', 'busy', { responseCode: 'UNAVAILABLE' }],
    ['* BYE Too many simultaneous connections', 'busy', {}],
    ['A9999 OK what', 'lost', {}],
    ['A1', 'lost', {}],
    ['what is this', 'lost', {}],
    ['* 1 FETCH (UID', 'lost', {}],
  ])('%j ends the connection as %s', async (said, fault, more) => {
    const { reader } = await reading((line, { say, hangUp }) => {
      if (!isFetch(line)) return false;
      say(said);
      hangUp();
    });
    await expect(gathered(reader.fetch('INBOX', [3]))).rejects.toMatchObject({ fault, ...more });
  });

  test('a body that breaks off throws at its reader', async () => {
    const { reader } = await reading((line, { say, hangUp }) => {
      if (!isFetch(line)) return false;
      say(`* 1 FETCH (UID 3 ${ROW} BODY[] {100}\r\nhalf`);
      hangUp();
    });
    await expect(bodies(reader.fetch('INBOX', [3]))).rejects.toMatchObject({ fault: 'lost' });
  });

  test('a server that talks without end is left', async () => {
    const { reader, connection } = await reading((line, { say }) => {
      if (!isFetch(line)) return false;
      say(Buffer.from('* OK still here\r\n'.repeat(120_000)));
    });
    await expect(gathered(reader.fetch('INBOX', [3]))).rejects.toMatchObject({ fault: 'lost' });
    expect(connection.ended?.message).toContain('without end');
  });

  test('silence is not waited for longer than is said', async () => {
    const silent = Promise.withResolvers<void>();
    const { reader, clock } = await reading((line) => {
      if (!isFetch(line)) return false;
      silent.resolve();
    });
    const fetched = gathered(reader.fetch('INBOX', [3]));
    fetched.catch(() => {});
    await silent.promise;
    clock.pass(179_000);
    expect(await Promise.race([fetched.catch(() => 'over'), Promise.resolve('waiting')])).toBe('waiting');
    clock.pass(2000);
    await expect(fetched).rejects.toMatchObject({ fault: 'slow' });
  });

  test.each([
    ['of a listing', '* OK xxxxxxxx'],
    ['of a message', `* 1 FETCH (UID 3 ${ROW} BODY[] {600000}\r\n`],
    ['of its answer', `A3 OK [`],
  ])('a server that gives one octet a second %s is left in the end', async (_, said) => {
    const asked = Promise.withResolvers<Stage>();
    const { reader, clock, connection } = await reading((line, stage) => {
      if (!isFetch(line)) return false;
      asked.resolve(stage);
    });
    const fetched = bodies(reader.fetch('INBOX', [3]));
    fetched.catch(() => {});
    const { say } = await asked.promise;
    say(Buffer.from(said));
    let seconds = 0;
    for (; connection.ended === undefined && seconds < 3600; seconds += 1) {
      say(Buffer.from('x'));
      await new Promise(setImmediate);
      clock.pass(1000);
    }
    expect(seconds).toBe(1800);
    await expect(fetched).rejects.toMatchObject({ fault: 'slow' });
  });

  test('a server that owes an answer is left soon after the work is called off', async () => {
    const silent = Promise.withResolvers<void>();
    const server = scriptedServer((line) => {
      if (!isFetch(line)) return false;
      silent.resolve();
    });
    const work = new AbortController();
    const connection = await scriptedSession(server, { signal: work.signal });
    const fetched = gathered(openStreamReader(connection).fetch('INBOX', [3]));
    fetched.catch(() => {});
    await silent.promise;
    work.abort();
    server.clock.pass(9999);
    expect(connection.ended).toBeUndefined();
    server.clock.pass(1);
    await expect(fetched).rejects.toMatchObject({ fault: 'lost' });
  });

  test('a server that gives what it owes slowly, but does, is not left', async () => {
    const asked = Promise.withResolvers<Stage>();
    const { reader, clock } = await reading((line, stage) => {
      if (!isFetch(line)) return false;
      asked.resolve(stage);
    });
    const fetched = bodies(reader.fetch('INBOX', [3]));
    const { say, tag } = await asked.promise;
    say(`* 1 FETCH (UID 3 ${ROW} BODY[] {100000}`);
    for (let piece = 0; piece < 20; piece++) {
      say(Buffer.alloc(5000, 'x'));
      await new Promise(setImmediate);
      clock.pass(120_000);
    }
    say(')', `${tag} OK done`);
    expect((await fetched)[0]?.[1].length).toBe(100_000);
  });

  test('a reader that takes its time makes no server slow', async () => {
    let stage: Stage | undefined;
    const { reader, clock, connection } = await reading((line, given) => {
      if (!isFetch(line)) return false;
      stage = given;
      given.say(`* 1 FETCH (UID 3 ${ROW} BODY[] {600000}`);
      for (let piece = 0; piece < 10; piece++) given.say(Buffer.alloc(piece === 9 ? 59_000 : 60_000, 'x'));
    });
    const lengths: number[] = [];
    for await (const { octets } of reader.fetch('INBOX', [3]))
      for await (const chunk of octets) {
        if (lengths.length === 0) {
          // So much waits by now that nothing is read any more.
          await new Promise(setImmediate);
          clock.pass(1_000_000);
          stage?.say(Buffer.alloc(1000, 'y'), ')', `${stage.tag} OK done`);
        }
        lengths.push(chunk.length);
      }
    expect(connection.ended).toBeUndefined();
    expect(lengths.reduce((sum, length) => sum + length)).toBe(600_000);
  });
});

const failed = (fault: string, more: object = {}) => ({ kind: 'failed', error: { fault, ...more } });

/** Answers each APPEND when its command has come to its end. */
const answering = (answer: (tag: string) => string, seen: string[] = []): Script => {
  let tag = '';
  return (line, { tag: first, say }) => {
    if (line.includes(' APPEND ')) tag = first;
    else if (tag === '') return false;
    seen.push(line);
    if (line.endsWith('}') && !line.endsWith('+}')) say('+ go on');
    else if (!line.endsWith('+}')) {
      say(answer(tag));
      tag = '';
    }
  };
};

test('a destination is not blamed for the time that the source took for a message', async () => {
  let append: Stage | undefined;
  const { writer, clock, connection } = await writing((line, stage) => {
    if (line.includes(' APPEND ')) append = stage;
    else if (append === undefined) return false;
  }, 'LITERAL+');
  async function* dripping() {
    for (const octet of 'abc') {
      yield Buffer.from(octet);
      await new Promise(setImmediate);
      clock.pass(59_000);
    }
  }
  const { sent, outcome } = writer.append('INBOX', inPieces([newMessage('', { size: 3, octets: dripping() })]), {
    together: false,
  });
  await sent;
  clock.pass(60_000);
  expect(connection.ended).toBeUndefined();
  append?.say(`${append.tag} OK done`);
  expect(await outcome).toMatchObject([{ kind: 'stored' }]);
});

async function* slowly() {
  yield Buffer.from('x');
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  yield Buffer.from('y');
}

describe('Writing to odd servers', () => {
  const stored = { kind: 'stored' };

  test.each<[string, string, number[], boolean, RegExp[]]>([
    ['LITERAL+', 'LITERAL+', [3, 5000], false, [/\{3\+\}$/, /^aaa$/, /\{5000\+\}$/, /^a+$/]],
    ['LITERAL-', 'LITERAL-', [4096, 4097], false, [/\{4096\+\}$/, /^a+$/, /\{4097\}$/, /^a+$/]],
    ['neither', '', [3, 0], false, [/\{3\}$/, /^aaa$/, /\{0\}$/, /^$/]],
    ['MULTIAPPEND', 'MULTIAPPEND LITERAL+', [3, 2], true, [/\{3\+\}$/, /^aaa \(\\Seen\) "[^"]+" \{2\+\}$/, /^aa$/]],
    ['MULTIAPPEND alone', 'MULTIAPPEND', [3, 2], true, [/\{3\}$/, /^aaa \(\\Seen\) "[^"]+" \{2\}$/, /^aa$/]],
  ])('by %s', async (_what, capabilities, sizes, together, expected) => {
    const seen: string[] = [];
    const { append } = await writing(
      answering((tag) => `${tag} OK done`, seen),
      capabilities,
    );
    const messages = sizes.map((size) => newMessage('a'.repeat(size), { flags: ['\\Seen'] }));
    expect(await append(messages, together)).toEqual(sizes.map(() => stored));
    expect(seen).toHaveLength(expected.length);
    for (const [index, each] of expected.entries()) expect(seen[index]).toMatch(each);
  });

  test('by LITERAL+ of Microsoft, which refuses large ones that do not wait', async () => {
    const seen: string[] = [];
    const { append } = await writing(
      answering((tag) => `${tag} OK done`, seen),
      'LITERAL+',
      'office365',
    );
    expect(await append([newMessage('a'.repeat(4096)), newMessage('a'.repeat(4097))])).toEqual([stored, stored]);
    expect(seen.filter((line) => line.includes('APPEND')).map((line) => /\{.*/.exec(line)?.[0])).toEqual([
      '{4096+}',
      '{4097}',
    ]);
  });

  test.each<[string, (number | undefined)[]]>([
    ['[APPENDUID 7 5:7]', [5, 6, 7]],
    ['[APPENDUID 7 5,6,9]', [5, 6, 9]],
    ['[APPENDUID 7 9,5,6]', [9, 5, 6]],
    ['[APPENDUID 7 7:5]', [undefined, undefined, undefined]],
    ['[APPENDUID 7 5:6]', [undefined, undefined, undefined]],
    ['[APPENDUID 7 5:4000000000]', [undefined, undefined, undefined]],
    ['[APPENDUID 0 5:7]', [undefined, undefined, undefined]],
    ['[APPENDUID 9223372036854775808 5:7]', [undefined, undefined, undefined]],
    ['[APPENDUID x 5:7]', [undefined, undefined, undefined]],
    ['[APPENDUID', [undefined, undefined, undefined]],
    ['', [undefined, undefined, undefined]],
  ])('of %j the UIDs are %j', async (said, uids) => {
    const { append } = await writing(
      answering((tag) => `${tag} OK ${said} done`),
      'MULTIAPPEND LITERAL+',
    );
    const outcomes = await append([newMessage('a'), newMessage('b'), newMessage('c')]);
    expect(outcomes.map((outcome) => outcome.kind === 'stored' && outcome.uid)).toEqual(uids);
  });

  test.each<[string, object]>([
    ['NO [TRYCREATE] no such mailbox', failed('refused', { responseCode: 'TRYCREATE' })],
    ['NO [OVERQUOTA] full', failed('full')],
    ['NO Mailbox is full', failed('full')],
    ['NO [LIMIT] too many', failed('busy', { responseCode: 'LIMIT' })],
    ['NO [THROTTLED] slow down', failed('busy')],
    ['NO [UNAVAILABLE] later', failed('busy')],
    ['NO [INUSE] somebody else', failed('busy')],
    ['NO [SERVERBUG] oh', failed('busy')],
    ['NO [EXPIRED] again', failed('credentials')],
    ['NO [NOPERM] not yours', failed('refused')],
    ['BAD Request is throttled. Suggested Backoff Time: 5 milliseconds', failed('busy', { pause: 5 })],
    ['NO Server Unavailable. 15', failed('busy')],
    ['NO [LIMIT] CAPABILITY Rate limit hit.', failed('busy')],
    ['NO Too many simultaneous connections', failed('busy')],
    ['BAD User is authenticated but not connected.', failed('busy')],
    ['NO mailbox storage limit has been exceeded', failed('full')],
    ['NO Quota limit will be exceeded', failed('full')],
    ['NO Maximum size of appendable message has been exceeded', { kind: 'refused', reason: 'too large' }],
    ['NO Message contains invalid header', { kind: 'refused', reason: 'not accepted' }],
    ['BAD Command Argument Error. 11', { kind: 'refused', reason: 'not accepted', isMisread: true }],
    ["NO Can't save a zero byte message.", { kind: 'refused', reason: 'not accepted' }],
    ['NO [TOOBIG] large', { kind: 'refused', reason: 'too large', text: 'large' }],
    ['NO [APPENDLIMIT] large', { kind: 'refused', reason: 'too large' }],
    ['BAD maximum message size exceeded', { kind: 'refused', reason: 'too large' }],
    ['NO it contains a virus', { kind: 'refused', reason: 'virus' }],
    ['BAD [CLIENTBUG] Additional arguments', { kind: 'refused', reason: 'not accepted', text: 'Additional arguments' }],
    ['NO', { kind: 'refused', reason: 'not accepted', text: '' }],
    ['BYE', { kind: 'unknown', error: { fault: 'lost' } }],
  ])('%j is told apart', async (said, expected) => {
    const { append } = await writing(
      answering((tag) => (said === 'BYE' ? '* BYE\r\nA' : `${tag} ${said}`)),
      'LITERAL+',
    );
    expect(await append([newMessage('a')])).toMatchObject([expected]);
  });

  test('what is refused in place of “go on” leaves the connection as it was', async () => {
    let tag = '';
    let appends = 0;
    const { append } = await writing((line, stage) => {
      if (line.includes(' APPEND ')) {
        ({ tag } = stage);
        stage.say(++appends === 1 ? `${tag} NO [TRYCREATE] no` : '+');
      } else if (line === 'bb') stage.say(`${tag} OK [APPENDUID 7 1] done`);
      else return false;
    }, 'UIDPLUS MULTIAPPEND');
    expect(await append([newMessage('a'), newMessage('b')])).toMatchObject([{ kind: 'failed' }, { kind: 'failed' }]);
    expect(await append([newMessage('bb')])).toMatchObject([{ kind: 'stored', uid: 1 }]);
    expect(appends).toBe(2);
  });

  test('an early NO is heard while the octets still go, and the next append is a new command', async () => {
    const sent: string[] = [];
    const { writer } = await writing((line, { tag, say }) => {
      if (line.includes('"First"')) say(`${tag} NO [TRYCREATE] no`);
      else if (line.includes('"Second"')) say(`${tag} OK [APPENDUID 7 9] done`);
      else if (!line.startsWith('x')) return false;
      sent.push(line);
    }, 'LITERAL+ MULTIAPPEND UIDPLUS');
    const first = writer.append(
      'First',
      inPieces([newMessage('', { size: 2, octets: slowly() }), newMessage('never sent')]),
      { together: true },
    );
    expect(await first.outcome).toMatchObject([
      { kind: 'failed', error: { responseCode: 'TRYCREATE' } },
      { kind: 'failed', error: { responseCode: 'TRYCREATE' } },
    ]);
    await first.sent;
    await writer.select('INBOX');
    // The literal and its command were brought to their end.
    expect(sent.at(-1)).toBe('xy');
    expect(sent.join('')).not.toContain('never sent');
  });

  test('an OK that comes before the message is not believed', async () => {
    const { writer, connection } = await writing((line, { tag, say }) => {
      if (!line.includes('APPEND')) return false;
      say(`${tag} OK done`);
    }, 'LITERAL+');
    async function* slowly() {
      yield Buffer.from('a');
      while (connection.ended === undefined) await new Promise(setImmediate);
      yield Buffer.from('b');
    }
    const { sent, outcome } = writer.append('INBOX', inPieces([newMessage('', { size: 2, octets: slowly() })]), {
      together: false,
    });
    await expect(sent).rejects.toBeInstanceOf(MailError);
    expect(await outcome).toMatchObject([{ kind: 'unknown', error: { fault: 'lost' } }]);
  });

  test.each([
    ['too few', 'ab'],
    ['too many', 'abcd'],
  ])('a message with %s octets is not sent to its end', async (_what, text) => {
    const { writer, connection } = await writing(() => false, 'LITERAL+');
    const { sent, outcome } = writer.append('INBOX', inPieces([newMessage(text, { size: 3 })]), { together: false });
    await expect(sent).rejects.toBeInstanceOf(RangeError);
    expect(await outcome).toMatchObject([{ kind: 'unknown' }]);
    expect(connection.ended?.fault).toBe('lost');
  });

  test('mailboxes are created in one round trip, and subscribed to once they are there', async () => {
    const waiting: (() => void)[] = [];
    const { writer, lines } = await writing((line, { tag, say }) => {
      if (!line.includes(' CREATE ')) return false;
      waiting.push(() => say(line.includes('Bad') ? `${tag} NO [CANNOT] Not that name` : `${tag} OK created`));
    }, '');
    const asked = ['A&B', 'Bad', 'Ünder/Neath'].map((path) => writer.create(path));
    const [first, bad, last] = asked;
    await expect.poll(() => waiting.length).toBe(3);
    for (const answer of waiting) answer();
    await expect(bad).rejects.toMatchObject({ fault: 'refused', responseCode: 'CANNOT' });
    expect([await first, await last]).toEqual([true, true]);
    const said = lines.map((line) => line.slice(line.indexOf(' ') + 1)).filter((line) => /CREATE|SUBSCRIBE/.test(line));
    expect(said).toEqual([
      'CREATE "A&-B"',
      'CREATE "Bad"',
      'CREATE "&ANw-nder/Neath"',
      'SUBSCRIBE "A&-B"',
      'SUBSCRIBE "&ANw-nder/Neath"',
    ]);
  });

  test.each<[string, string, string, boolean]>([
    ['a mailbox that exists already', 'NO [ALREADYEXISTS] It is there', '', false],
    ['one that exists, by Exchange', 'NO Mailbox already exists', '* STATUS Family (UIDVALIDITY 7)', false],
    ['one that can’t be subscribed to', 'OK', '', true],
  ])('%s is fine', async (_, created, status, isNew) => {
    const { writer } = await writing((line, { tag, say }) => {
      if (line.includes(' CREATE ')) say(`${tag} ${created} done`);
      else if (line.includes(' STATUS ')) say(status, `${tag} OK done`);
      else if (line.includes(' SUBSCRIBE ')) say(`${tag} NO not here`);
      else return false;
    }, '');
    expect(await writer.create('Family')).toBe(isNew);
  });

  test.each<[string, string, Partial<MailError>]>([
    ['a refusal without a reason', 'NO no', { fault: 'refused' }],
    ['a full account', 'NO [OVERQUOTA] full', { fault: 'full' }],
    ['a busy server', 'NO [UNAVAILABLE] later', { fault: 'busy' }],
  ])('%s comes out of a creation', async (_, created, fault) => {
    const { writer } = await writing((line, { tag, say }) => {
      if (line.includes(' CREATE ')) say(`${tag} ${created}`);
      else if (line.includes(' STATUS ')) say(`${tag} NO there is none`);
      else return false;
    }, '');
    await expect(writer.create('Family')).rejects.toMatchObject(fault);
  });

  test('a message beyond the server’s limit is not sent at all', async () => {
    const { append, lines, writer } = await writing(
      answering((tag) => `${tag} OK done`),
      'LITERAL+ APPENDLIMIT=4',
    );
    expect(writer.traits.appendLimit).toBe(4);
    const outcomes: readonly Appended[] = await append([newMessage('small'), newMessage('tiny')], false);
    expect(outcomes).toMatchObject([{ kind: 'refused', reason: 'too large' }, { kind: 'stored' }]);
    expect(lines.filter((line) => line.includes('APPEND'))).toHaveLength(1);
  });

  test('a mailbox says its own limit', async () => {
    const { writer } = await writing((line, { tag, say }) => {
      if (!line.includes('STATUS')) return false;
      say('* STATUS INBOX (APPENDLIMIT 99)', `${tag} OK`);
    }, 'APPENDLIMIT');
    expect(await writer.select('INBOX')).toMatchObject({ appendLimit: 99, uidValidity: 7n });
  });

  test('flags that a mailbox does not keep are left out', async () => {
    const { writer } = await writing((line, { tag, say }) => {
      if (!line.includes('SELECT')) return false;
      say('* OK [UIDVALIDITY 7]', '* OK [PERMANENTFLAGS (\\Seen $Known)]', `${tag} OK`);
    }, '');
    const { keeps } = await writer.select('INBOX');
    expect(keeps(['\\seen', '\\Flagged', '$known', '$Other'])).toEqual(['\\seen', '$known']);
  });
});

const signingIn = (script: Script, capabilities: string, secret: 'password' | 'token' = 'token') => {
  const server = scriptedServer(script, { capabilities: `IMAP4rev1 ${capabilities}` });
  let tokens = 0;
  const signedIn = openSession(
    {
      email: 'anna@mail.example',
      place: { host: 'mail.example', port: 993, security: 'tls', named: 'by operator' },
      credentials:
        secret === 'token'
          ? { kind: 'token', accessToken: async () => `token-${++tokens}` }
          : { kind: 'password', password: 'pass "word"' },
    },
    server,
  );
  return { signedIn, ...server };
};

const decoded = (base64 = '') => Buffer.from(base64, 'base64').toString();

describe('Signing in to odd servers', () => {
  test.each([
    ['AUTH=XOAUTH2 SASL-IR', 'XOAUTH2', 'user=anna@mail.example\x01auth=Bearer token-2\x01\x01', ''],
    [
      'AUTH=XOAUTH2 AUTH=OAUTHBEARER SASL-IR',
      'OAUTHBEARER',
      'n,a=anna@mail.example,\x01host=mail.example\x01port=993\x01auth=Bearer token-2\x01\x01',
      'AQ==',
    ],
  ])('with %s a refused token is renewed once', async (capabilities, mechanism, response, afterRefusal) => {
    let tries = 0;
    let tag = '';
    const { signedIn, lines } = signingIn((line, stage) => {
      if (line.includes('AUTHENTICATE')) {
        ({ tag } = stage);
        if (++tries === 1) stage.say('+ eyJzdGF0dXMiOiI0MDAifQ==');
        else return false;
      } else if (line === afterRefusal) stage.say(`${tag} NO [AUTHENTICATIONFAILED] bad token`);
      else return false;
    }, capabilities);
    await signedIn;
    const last = lines.findLast((line) => line.includes('AUTHENTICATE'))?.split(' ') ?? [];
    expect([last[2], decoded(last[3])]).toEqual([mechanism, response]);
  });

  test('without SASL-IR the response follows the server’s word', async () => {
    const { signedIn, lines } = signingIn(
      (line, { say }) => {
        if (line.includes('AUTHENTICATE')) say('+');
        else if (line.startsWith('AGFu')) say('A2 OK [CAPABILITY IMAP4rev1 UIDPLUS] in');
        else return false;
      },
      'AUTH=PLAIN',
      'password',
    );
    expect([...(await signedIn).capabilities]).toEqual(['IMAP4REV1', 'UIDPLUS']);
    expect(decoded(lines.at(-1))).toBe('\0anna@mail.example\0pass "word"');
  });

  test('without any other way the password goes by LOGIN', async () => {
    const { signedIn, lines } = signingIn(() => false, 'ID', 'password');
    await (await signedIn).logout();
    expect(lines).toContain('A2 LOGIN "anna@mail.example" "pass \\"word\\""');
    expect(lines).toContain('A4 ID ("name" "email-data-transfer")');
  });

  test.each<[string, string, string, string]>([
    ['no way for passwords', 'LOGINDISABLED', '', 'credentials'],
    ['a refusal', 'AUTH=PLAIN SASL-IR', 'NO [AUTHENTICATIONFAILED] no', 'credentials'],
    ['a refusal without a code', 'AUTH=PLAIN SASL-IR', 'NO no', 'credentials'],
    ['a pause', 'AUTH=PLAIN SASL-IR', 'NO [UNAVAILABLE] later', 'busy'],
    ['too many connections', 'AUTH=PLAIN SASL-IR', 'NO Too many simultaneous connections. (Failure)', 'busy'],
    ['no connection to the mailbox', 'AUTH=PLAIN SASL-IR', 'BAD User is authenticated but not connected.', 'busy'],
  ])('%s is told apart', async (_what, capabilities, said, fault) => {
    const { signedIn } = signingIn(
      (line, { tag, say }) => {
        if (!line.includes('AUTHENTICATE')) return false;
        say(`${tag} ${said}`);
      },
      capabilities,
      'password',
    );
    await expect(signedIn).rejects.toMatchObject({ fault });
  });

  test.each([
    ['* BYE [UNAVAILABLE] too busy', 'busy'],
    ['* BYE go away', 'lost'],
    ['* PREAUTH you are in', 'refused'],
    ['HTTP/1.1 400 Bad Request', 'lost'],
    ['* NO', 'lost'],
  ])('the greeting %j lets nobody in', async (greeting, fault) => {
    const server = scriptedServer(() => false, { greeting });
    await expect(scriptedSession(server)).rejects.toMatchObject({ fault });
  });

  test('a server that never greets is given up', async () => {
    const server = scriptedServer(() => false, { greeting: '* OK' });
    const { duplexPair } = await import('node:stream');
    const [client] = duplexPair();
    const signedIn = scriptedSession({ clock: server.clock, dial: async () => ({ socket: client }) });
    signedIn.catch(() => {});
    await new Promise(setImmediate);
    server.clock.pass(400_000);
    await expect(signedIn).rejects.toMatchObject({ fault: 'slow' });
    expect(client.destroyed).toBe(true);
  });

  test('what is said between STARTTLS and TLS ends the connection', async () => {
    const offer = 'IMAP4rev1 STARTTLS AUTH=PLAIN SASL-IR';
    const server = scriptedServer(
      (line, { tag, say }) => {
        if (!line.includes('STARTTLS')) return false;
        say(Buffer.from(`${tag} OK go\r\n* CAPABILITY IMAP4rev1 EVIL\r\n`));
      },
      { capabilities: offer },
    );
    let encrypted = 0;
    const dial: typeof server.dial = async (place, signal) => ({
      ...(await server.dial(place, signal)),
      startTls: () => Promise.reject(new Error(`${++encrypted}`)),
    });
    await expect(scriptedSession({ clock: server.clock, dial })).rejects.toMatchObject({ fault: 'certificate' });
    expect(encrypted).toBe(0);
    expect(server.lines.some((line) => line.includes('AUTHENTICATE'))).toBe(false);
  });
});
