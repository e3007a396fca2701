import { describe, expect, test } from 'vitest';
import { listMailbox } from '../../src/server/mail/copy/looking/listing.ts';
import { isBreak, isFarewell, MailError } from '../../src/server/mail/imap/mail-error.ts';
import type { MailReader } from '../../src/server/mail/imap/streams.ts';
import { openStreamReader } from '../../src/server/mail/imap/wire/imap-stream-reader.ts';
import type { SessionOptions } from '../../src/server/mail/imap/wire/session.ts';
import { LISTING_LIMIT } from '../../src/server/mail/imap/wire/listings.ts';
import { askStatus } from '../../src/server/mail/imap/wire/opening.ts';
import { gathered, octetsOf } from '../support/imap-session.ts';
import { scriptedServer, scriptedSession, type Script, type Stage } from '../support/scripted-imap.ts';

async function reading(
  script: Script,
  options?: { greeting?: string; capabilities?: string },
  session?: Partial<SessionOptions>,
) {
  const server = scriptedServer(script, options);
  const connection = await scriptedSession(server, session);
  return { reader: openStreamReader(connection), connection, ...server };
}

const isFetch = (line: string) => line.includes('FETCH');
const ROW = 'RFC822.SIZE 3 INTERNALDATE "01-Jan-2020 00:00:00 +0000" FLAGS (\\Seen)';

const section = (uid: number, text: string) =>
  `* ${uid} FETCH (UID ${uid} body[header]<0> {${text.length}}\r\n${text})`;

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

  test.each(['in the other order', 'twice'])(
    'octets that come before their UID, %s, are those of no other message',
    async (how) => {
      const waiting: string[] = [];
      const { reader } = await reading((line, { tag, say }) => {
        if (!isFetch(line)) return false;
        const uid = Number(/UID FETCH (\d+)/.exec(line)?.[1]);
        const number = uid - 2;
        if (!line.includes('BODY')) say(`* ${number} FETCH (UID ${uid} ${ROW})`, `${tag} OK done`);
        else if (line.includes(':')) say(`* 1 FETCH (BODY[] {3}\r\none UID 3 ${ROW})`, `${tag} OK done`);
        else {
          const body = `* ${number} FETCH (BODY[] {3}\r\n${uid === 3 ? 'one' : 'two'} UID ${uid})`;
          waiting.unshift(how === 'twice' ? `${body}\r\n${body}` : body, `${tag} OK done`);
          if (uid === 4) say(...(how === 'twice' ? [2, 3, 0, 1] : [0, 1, 2, 3]).map((at) => waiting[at] ?? ''));
        }
      });
      expect(await bodies(reader.fetch('INBOX', [3, 4]))).toEqual(
        how === 'twice'
          ? [
              [3, 'one'],
              [4, 'two'],
            ]
          : [
              [4, 'two'],
              [3, 'one'],
            ],
      );
    },
  );

  test('a message that comes again while the next mailbox is opened is none of that one', async () => {
    const again = `* 1 FETCH (UID 1 ${ROW} BODY[] {3}\r\none)`;
    let opened = 'A';
    const { reader } = await reading((line, { tag, say }) => {
      if (line.includes('EXAMINE')) {
        if (line.includes('"B"')) say(again);
        opened = line.includes('"B"') ? 'B' : 'A';
        say('* 1 EXISTS', `* OK [UIDVALIDITY ${opened === 'A' ? 7 : 8}]`, `${tag} OK done`);
      } else if (isFetch(line)) say(opened === 'A' ? again : again.replace('one', 'two'), `${tag} OK done`);
      else return false;
    });
    expect(await bodies(reader.fetch('A', [1]))).toEqual([[1, 'one']]);
    expect(await bodies(reader.fetch('B', [1]))).toEqual([[1, 'two']]);
  });

  test.each(['FLAGS', 'INTERNALDATE'])('what gives the octets before the %s is asked for both first', async (late) => {
    const { reader } = await reading((line, { tag, say }) => {
      if (!isFetch(line)) return false;
      const items = ROW.split(/ (?=[A-Z]{5})/);
      const before = items.filter((item) => !item.startsWith(late)).join(' ');
      const after = items.filter((item) => item.startsWith(late)).join(' ');
      if (line.includes('BODY')) say(`* 1 FETCH (UID 3 ${before} BODY[] {3}\r\none ${after})`);
      else say(`* 1 FETCH (UID 3 ${ROW})`);
      say(`${tag} OK done`);
    });
    const [found] = await gathered(reader.fetch('INBOX', [3]));
    expect(found).toMatchObject({ flags: ['\\Seen'], internalDate: new Date('2020-01-01T00:00:00Z') });
  });

  test('messages whose sizes a server can’t tell are asked for without them, and keep their flags and dates', async () => {
    const { reader } = await reading((line, { tag, say }) => {
      if (!isFetch(line)) return false;
      const uid = Number(/UID FETCH (\d+)/.exec(line)?.[1]);
      if (line.includes('RFC822.SIZE')) return say(`${tag} NO It is broken.`);
      if (line.includes('BODY')) say(`* ${uid - 2} FETCH (UID ${uid} BODY[] {3}\r\none)`);
      else say(`* ${uid - 2} FETCH (UID ${uid} ${ROW.replace('RFC822.SIZE 3 ', '')})`);
      say(`${tag} OK done`);
    });
    const described = { flags: ['\\Seen'], internalDate: new Date('2020-01-01T00:00:00Z') };
    expect(await gathered(reader.fetch('INBOX', [3, 4]))).toMatchObject([described, described]);
  });

  test('flags that change while a message is asked for alone take no date from it', async () => {
    const { reader } = await reading((line, { tag, say }) => {
      if (!isFetch(line)) return false;
      if (line.includes('BODY')) say(`* 1 FETCH (BODY[] {3}\r\none UID 3)`);
      else {
        say(`* 1 FETCH (UID 3 ${ROW})`, '* 1 FETCH (UID 3 FLAGS (\\Seen \\Flagged))');
        // Another message’s.
        say('* 2 FETCH (UID 4 FLAGS (\\Deleted))');
      }
      say(`${tag} OK done`);
    });
    const [found] = await gathered(reader.fetch('INBOX', [3]));
    expect(found).toMatchObject({ flags: ['\\Seen', '\\Flagged'], internalDate: new Date('2020-01-01T00:00:00Z') });
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

  test.each([[[3]], [[3, 4]]])('a refusal of a fetch that is not due to any message is passed on', async (uids) => {
    const { reader } = await reading((line, { tag, say }) => {
      if (!isFetch(line)) return false;
      say(`${tag} NO Request is throttled. Suggested Backoff Time: 299961 milliseconds`);
    });
    await expect(gathered(reader.fetch('INBOX', uids))).rejects.toMatchObject({ fault: 'busy', pause: 299_961 });
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

  test.each([
    ['a message that comes twice', [3]],
    ['one that nobody asked for', [99]],
  ])('%s keeps none away, however large it is', async (_, more) => {
    const body = Buffer.alloc(3_000_000, 'x');
    const { reader } = await reading((line, { tag, say }) => {
      if (!isFetch(line)) return false;
      for (const uid of [3, ...more]) say(`* ${uid} FETCH (UID ${uid} ${ROW} BODY[] {${body.length}}`, body, ')');
      say(`* 4 FETCH (UID 4 ${ROW} BODY[] {3}\r\ntwo)`, `${tag} OK done`);
    });
    const found: [number, number][] = [];
    for await (const { uid, octets } of reader.fetch('INBOX', [3, 4]))
      found.push([uid, (await octetsOf(octets)).length]);
    expect(found).toEqual([
      [3, body.length],
      [4, 3],
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

  test('what was requested ahead and is not read blocks nothing else', async () => {
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

  test('a message that is listed twice in one mailbox does not count for the next one', async () => {
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

  test('behind a message with the highest UID that there is nothing is asked for', async () => {
    const { reader } = await reading((line, { tag, say }) => {
      const row = `* 1 FETCH (UID 4294967295 ${ROW})`;
      if (line.includes('EXAMINE')) say('* 2 EXISTS', '* OK [UIDVALIDITY 7] ok', `${tag} OK done`);
      else if (line.includes('4294967296')) say(`${tag} BAD Invalid UID set`);
      else if (line.includes('UID FETCH')) say(row, `${tag} OK done`);
      else if (isFetch(line)) say(`${tag} OK done`);
      else if (line.includes('SEARCH')) say('* SEARCH 4294967295', `${tag} OK done`);
      else return false;
    });
    const { messages, unlisted } = await listMailbox(reader, 'INBOX');
    expect([[...messages].map(({ uid }) => uid), unlisted]).toEqual([[4_294_967_295], 1]);
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

  test('nothing is believed about a mailbox that can’t be opened, even if the server goes on with the one before', async () => {
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

  test('what has arrived and is no longer wanted blocks nothing else', async () => {
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
    let exists = LISTING_LIMIT + 1;
    const { reader } = await reading((line, { tag, say }) => {
      if (line.includes('EXAMINE')) say(`* ${exists} EXISTS`, '* OK [UIDVALIDITY 7]', `${tag} OK done`);
      else if (isFetch(line))
        say(`* 1 FETCH (UID 10 ${ROW})`, '* 1 EXPUNGE', `* 2 FETCH (UID 20 ${ROW})`, `${tag} OK done`);
      else return false;
    });
    for (const pages of [reader.openAndList('INBOX').pages, reader.list('INBOX')])
      await expect(gathered(pages)).rejects.toMatchObject({ fault: 'refused' });
    exists = 2;
    await expect(gathered(reader.openAndList('INBOX').pages)).rejects.toMatchObject({ fault: 'lost' });
  });

  test('a message that is described by several answers, one after the other, is listed with all that they say', async () => {
    const [size, date, flags] = ['RFC822.SIZE 3', 'INTERNALDATE "01-Jan-2020 00:00:00 +0000"', 'FLAGS (\\Seen)'];
    const { reader } = await reading((line, { tag, say }) => {
      if (line.includes('EXAMINE')) say('* 4 EXISTS', '* OK [UIDVALIDITY 7]', `${tag} OK done`);
      else if (!isFetch(line)) return false;
      else {
        say(`* 1 FETCH (UID 11 ${flags})`, `* 1 FETCH (UID 11 ${size} ${date})`);
        say(`* 2 FETCH (UID 12 ${size})`, `* 2 FETCH (UID 12 ${date})`, `* 2 FETCH (UID 12 ${flags})`);
        // What somebody else has changed of another message meanwhile says nothing of this one.
        say('* 1 FETCH (UID 11 FLAGS (\\Flagged))', `* 3 FETCH (UID 13 ${size} ${date})`);
        say(`* 4 FETCH (UID 14 ${date} ${flags})`, `* 4 FETCH (UID 14 ${size})`);
        say('* 4 FETCH (UID 14 FLAGS (\\Flagged))', `${tag} OK done`);
      }
    });
    const whole = { size: 3, internalDate: new Date('2020-01-01T00:00:00Z'), flags: ['\\Seen'] };
    const rows = [
      { uid: 11, ...whole },
      { uid: 12, ...whole },
      { uid: 13, ...whole, flags: [] },
      { uid: 14, ...whole },
    ];
    expect((await gathered(reader.openAndList('INBOX').pages)).flat()).toEqual(rows);
    expect((await gathered(reader.list('INBOX', 2))).flat()).toEqual(rows);
    expect((await gathered(reader.look('INBOX', [12, 14]))).flat()).toEqual([rows[1], rows[3]]);
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
    const before = lines.length;
    reader.listAhead(['INBOX']);
    const { opened, pages } = reader.openAndList('INBOX');
    expect(await uids(pages)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(await opened).toMatchObject({ exists: 7 });
    const asked = lines.slice(before).filter((line) => line.includes('FETCH'));
    expect(asked.map((line) => line.split(' ')[2])).toEqual(['1:3', '4:6', '7:7']);
  });

  test('messages with numbers that no mailbox has are none of it', async () => {
    const { reader } = await reading((line, { tag, say }) => {
      if (line.includes('EXAMINE')) say('* 1 EXISTS', '* OK [UIDVALIDITY 7]', `${tag} OK done`);
      else if (!isFetch(line)) return false;
      else {
        for (const number of [0, LISTING_LIMIT + 1, 4_294_967_295]) say(`* ${number} FETCH (UID 9 ${ROW})`);
        say(`* 1 FETCH (UID 3 ${ROW})`, `${tag} OK done`);
      }
    });
    for (const pages of [reader.openAndList('INBOX').pages, reader.list('INBOX')])
      expect((await gathered(pages)).flat()).toMatchObject([{ uid: 3 }]);
  });

  test('a mailbox is opened anew for messages that were not there when it was opened', async () => {
    const { reader, lines } = await reading((line, { tag, say }) => {
      if (!isFetch(line)) return false;
      say(`${tag} OK done`);
    });
    const opens = () => lines.filter((line) => line.includes('EXAMINE')).length;
    await reader.open('INBOX');
    await gathered(reader.look('INBOX', [3, 89]));
    expect(opens()).toBe(1);
    await gathered(reader.look('INBOX', [3, 90]));
    expect(opens()).toBe(2);
  });

  test.each([
    ['is open', '* OK [UIDVALIDITY 7]', 'refused'],
    ['could not be opened', '', 'listed'],
  ])(
    'a mailbox that %s is closed before the mailboxes are listed, and a server that can’t is believed',
    async (...row) => {
      const [, validity, outcome] = row;
      const { reader, lines } = await reading(
        (line, { tag, say }) => {
          if (line.includes('EXAMINE')) say(validity, `${tag} ${validity === '' ? 'NO' : 'OK'} done`);
          else if (line.includes('UNSELECT')) say(`${tag} BAD no mailbox`);
          else if (line.includes('LIST')) say('* LIST () "/" INBOX', `${tag} OK done`);
          else return false;
        },
        { capabilities: 'IMAP4rev1 SASL-IR AUTH=PLAIN UNSELECT' },
      );
      const opened = reader.open('INBOX').catch(() => {});
      await opened;
      const listed = await reader.mailboxes().then(
        () => 'listed',
        (error: unknown) => error instanceof MailError && error.fault,
      );
      expect(listed).toBe(outcome);
      expect(lines.map((line) => line.split(' ')[1])).toContain('UNSELECT');
      const closed = lines.length;
      await reader.mailboxes();
      expect(lines.slice(closed).some((line) => line.includes('UNSELECT'))).toBe(false);
    },
  );

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
    let status = '(MESSAGES 4)';
    const { reader } = await reading(
      (line, { tag, say }) => {
        if (line.includes('EXAMINE')) say('* 1 EXISTS', `* OK ${validity}`, `${tag} OK`);
        else if (line.includes('STATUS')) say(`* STATUS a mailbox (x) ${status}`, `${tag} OK`);
        else return false;
      },
      undefined,
      { role: 'destination' },
    );
    const refused = { fault: 'refused', account: 'destination' };
    await expect(reader.open('INBOX')).rejects.toMatchObject(refused);
    await expect(reader.status('INBOX')).rejects.toMatchObject(refused);
    for (const odd of ['9223372036854775808', '-5', '0x1f', '5/', '5:', '']) {
      validity = `[UIDVALIDITY ${odd}]`;
      await expect(reader.open('INBOX')).rejects.toMatchObject(refused);
    }
    status = '(MESSAGES 4 UIDVALIDITY 3)';
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
    found = '* SEARCH 8 3 8 5';
    expect(await reader.search('INBOX'), 'each once').toEqual([3, 5, 8]);
    found = '* search 10 90 4294967295';
    expect(await reader.search('INBOX')).toEqual([10, 90, 4_294_967_295]);
    found = '* esearch UID all 7';
    expect(await reader.search('INBOX')).toEqual([7]);
    found = '* ESEARCH (TAG "A7") UID ALL 1:4294967295';
    await expect(reader.search('INBOX')).rejects.toMatchObject({ fault: 'lost' });
  });

  test('what stands before many literals of an answer is not read anew for each', async () => {
    const { reader } = await reading((line, { tag, say }) => {
      if (!isFetch(line)) return false;
      say(`* 1 FETCH (X (${'a '.repeat(30_000)}) ${'BODY[] {0}\r\n '.repeat(900)})`, `${tag} OK`);
    });
    const from = process.cpuUsage();
    await expect(gathered(reader.fetch('INBOX', [3]))).rejects.toMatchObject({ fault: 'lost' });
    expect(process.cpuUsage(from).user / 1e6, 'seconds').toBeLessThan(2);
  });

  test('search results without end are not collected', async () => {
    const { reader } = await reading((line, { tag, say }) => {
      if (!line.includes('SEARCH')) return false;
      say('* ESEARCH UID ALL 1:600000', '* ESEARCH UID ALL 1:600000', `${tag} OK`);
    });
    await expect(reader.search('INBOX')).rejects.toMatchObject({ fault: 'lost' });
  });

  test('of headers only the beginning is kept, and none that nobody asked for', async () => {
    const header = `Subject: ${'x'.repeat(200_000)}\r\n\r\n`;
    const { reader, lines } = await reading((line, { tag, say }) => {
      if (!isFetch(line)) return false;
      const [from = 0] = (/FETCH (\d+)/.exec(line) ?? []).slice(1).map(Number);
      say(section(from, header), `* ${from} FETCH (UID ${from} FLAGS ())`, section(999, 'Not: asked\r\n\r\n'));
      say(section(from + 1, 'A: b\r\n\r\n'), section(from + 1, 'Again: this\r\n\r\n'), `${tag} OK done`);
    });
    const uids = Array.from({ length: 102 }, (_, index) => index + 1);
    const found = await gathered(reader.headers('INBOX', uids));
    expect(found.map(({ uid, header: kept }) => [uid, kept.length])).toEqual([
      [1, 65_536],
      [2, 8],
      [101, 65_536],
      [102, 8],
    ]);
    expect(found[0]?.header.toString()).toBe(header.slice(0, 65_536));
    expect(lines.filter(isFetch).map((line) => line.split(' ')[3])).toEqual(['1:100', '101:102']);
  });

  test('of a mailbox’s status nothing is kept that was not asked for', async () => {
    const { connection } = await reading((line, { tag, say }) => {
      if (!line.includes('STATUS')) return false;
      say('* STATUS INBOX (MESSAGES 3 UIDNEXT 9 X-ANYTHING 5)', '* STATUS INBOX (X-MORE 6)', `${tag} OK`);
    });
    expect([...(await askStatus(connection, 'INBOX', ['MESSAGES', 'UIDVALIDITY']))]).toEqual([['MESSAGES', 3n]]);
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

  test('a command that is answered by what is no answer waits for none', async () => {
    const { reader } = await reading((line, { tag, say }) => {
      if (!line.includes('EXAMINE')) return false;
      say(`${tag} PREAUTH hello`);
    });
    await expect(reader.open('INBOX')).rejects.toMatchObject({ fault: 'lost' });
  });

  test.each([
    ['less than it has', `{3}\r\nhello\r\n)`],
    [
      'more than it has, up to a line that goes on',
      `{${47 + ROW.length}}\r\nhello\r\n)\r\n* 2 FETCH (UID 4 ${ROW} BODY[] {3}\r\ntwo)`,
    ],
    ['more than it has, up to an item', `{29}\r\nhello\r\n)\r\n* 2 FETCH (UID 4 ${ROW} BODY[] {3}\r\ntwo)`],
  ])('of a message that is counted wrong, %s, no end comes', async (_, body) => {
    const { reader } = await reading((line, { tag, say }) => {
      if (!isFetch(line)) return false;
      say(`* 1 FETCH (UID 3 ${ROW} BODY[] ${body}`, `${tag} OK done`);
    });
    const ended: number[] = [];
    const read = async () => {
      for await (const { uid, octets } of reader.fetch('INBOX', [3, 4])) {
        await octetsOf(octets);
        ended.push(uid);
      }
    };
    await expect(read()).rejects.toMatchObject({ fault: 'lost' });
    expect(ended).toEqual([]);
  });

  test.each([
    ['says goodbye', false],
    ['refuses a message, and says goodbye when that is asked for alone', true],
  ])('a server that %s is told apart from one that has had enough of us', async (_, isOfMessage) => {
    const { reader } = await reading((line, { tag, say, hangUp }) => {
      if (!isFetch(line)) return false;
      if (isOfMessage && line.includes(':')) say(`${tag} NO Some messages could not be fetched`);
      else {
        say('* BYE Fatal error');
        hangUp();
      }
    });
    const error: unknown = await bodies(reader.fetch('INBOX', [3, 4])).catch((broken: unknown) => broken);
    expect([isFarewell(error), isBreak(error)]).toEqual([!isOfMessage, isOfMessage]);
  });

  test('messages whose octets nobody reads hold up none behind them', async () => {
    const body = Buffer.alloc(300_000, 'x');
    const { reader, connection } = await reading((line, { tag, say }) => {
      if (!isFetch(line)) return false;
      for (const uid of [3, 4, 5]) say(`* ${uid} FETCH (UID ${uid} ${ROW} BODY[] {300000}`, body, ')');
      say(`${tag} OK done`);
    });
    const uids: number[] = [];
    for await (const { uid } of reader.fetch('INBOX', [3, 4, 5])) {
      uids.push(uid);
      // As much has come as waits at most.
      await new Promise(setImmediate);
    }
    expect(uids).toEqual([3, 4, 5]);
    expect(connection.incoming.isPaused).toBe(false);
  });

  test('a fetch of which a message is missing lets the next one begin when it is over', async () => {
    const { reader, lines } = await reading((line, { tag, say }) => {
      if (!isFetch(line)) return false;
      const [from = 0] = (/FETCH (\d+):/.exec(line) ?? []).slice(1).map(Number);
      setImmediate(() => say(`* ${from} FETCH (UID ${from} ${ROW} BODY[] {3}\r\none)`, `${tag} OK done`));
    });
    await reader.open('INBOX');
    const fetches = [reader.fetch('INBOX', [3, 4]), reader.fetch('INBOX', [5, 6])];
    await new Promise(setImmediate);
    expect(lines.filter(isFetch)).toHaveLength(1);
    expect(await Promise.all(fetches.map((each) => bodies(each)))).toEqual([[[3, 'one']], [[5, 'one']]]);
  });

  test('a body that breaks off throws at its reader', async () => {
    const { reader } = await reading((line, { say, hangUp }) => {
      if (!isFetch(line)) return false;
      say(`* 1 FETCH (UID 3 ${ROW} BODY[] {100}\r\nhalf`);
      hangUp();
    });
    await expect(bodies(reader.fetch('INBOX', [3]))).rejects.toMatchObject({ fault: 'lost' });
  });

  test.each(['* OK still here\r\n', '+ go on\r\n'])('a server that says %j without end is abandoned', async (said) => {
    const { reader, connection } = await reading((line, { say }) => {
      if (!isFetch(line)) return false;
      say(Buffer.from(said.repeat(120_000)));
    });
    await expect(gathered(reader.fetch('INBOX', [3]))).rejects.toMatchObject({ fault: 'lost' });
    expect(connection.ended?.message).toContain('without end');
  });

  test('a server that says much before each of its answers is not', async () => {
    const { reader, connection } = await reading((line, { tag, say }) => {
      if (!line.includes('STATUS')) return false;
      say(Buffer.from('* 5 EXISTS\r\n'.repeat(60_000)), '* STATUS INBOX (MESSAGES 5 UIDVALIDITY 7)', `${tag} OK done`);
    });
    for (let time = 0; time < 3; time++) expect(await reader.status('INBOX')).toMatchObject({ exists: 5 });
    expect(connection.ended).toBeUndefined();
  });

  test('a server that says goodbye and stays is left after two seconds', async () => {
    const heard = Promise.withResolvers<void>();
    const { reader, clock, connection } = await reading((line, { say }) => {
      if (!isFetch(line)) return false;
      say('* BYE down');
      heard.resolve();
    });
    const fetched = gathered(reader.fetch('INBOX', [3]));
    fetched.catch(() => {});
    await heard.promise;
    await new Promise(setImmediate);
    clock.pass(1999);
    expect(connection.ended).toBeUndefined();
    clock.pass(1);
    const error: unknown = await fetched.catch((ended: unknown) => ended);
    expect(isFarewell(error)).toBe(true);
  });

  test.each<[string, (reader: MailReader) => Promise<unknown>]>([
    ['EXAMINE', (reader) => reader.open('INBOX')],
    ['STATUS', (reader) => reader.status('INBOX')],
    ['SEARCH', (reader) => reader.search('INBOX')],
  ])('a server that answers %s without end is abandoned', async (asked, ask) => {
    const answers = '* 3 EXISTS\r\n* STATUS INBOX (MESSAGES 3)\r\n* SEARCH\r\n';
    const { reader, connection } = await reading((line, { say }) => {
      if (!line.includes(asked)) return false;
      say(Buffer.from(answers.repeat(120_000)));
    });
    await expect(ask(reader)).rejects.toMatchObject({ fault: 'lost' });
    expect(connection.ended?.message).toContain('without end');
  });

  test('silence is not waited for longer than the timeout', async () => {
    const silent = Promise.withResolvers<void>();
    const { reader, clock, connection } = await reading((line) => {
      if (!isFetch(line)) return false;
      silent.resolve();
    });
    const fetched = gathered(reader.fetch('INBOX', [3]));
    fetched.catch(() => {});
    await silent.promise;
    clock.pass(179_000);
    expect(connection.ended).toBeUndefined();
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

  test('a server is not blamed for the time that this process stood still', async () => {
    const silent = Promise.withResolvers<void>();
    const server = scriptedServer((line) => {
      if (!isFetch(line)) return false;
      silent.resolve();
    });
    let still = 0;
    const clock = { ...server.clock, elapsed: () => server.clock.elapsed() + still };
    const connection = await scriptedSession({ dial: server.dial, clock });
    const fetched = gathered(openStreamReader(connection).fetch('INBOX', [3]));
    fetched.catch(() => {});
    await silent.promise;
    still = 600_000;
    server.clock.pass(180_000);
    expect(connection.ended).toBeUndefined();
    server.clock.pass(179_999);
    expect(connection.ended).toBeUndefined();
    server.clock.pass(1);
    await expect(fetched).rejects.toMatchObject({ fault: 'slow' });
  });

  test('a server that owes an answer is abandoned soon after the work is canceled', async () => {
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

  test('a server that answers slowly, but does answer, is not abandoned', async () => {
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

  test('a server does not count as slow because its reader takes its time', async () => {
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
