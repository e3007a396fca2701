import { createHash, randomBytes } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MACHINE_CLOCK, type Clock } from '../../src/server/clock.ts';
import { MailError } from '../../src/server/mail/imap/mail-error.ts';
import type { Appended, MailReader, MailWriter, NewMessage } from '../../src/server/mail/imap/streams.ts';
import { openControl } from '../../src/server/mail/imap/control.ts';
import { openDial } from '../../src/server/mail/imap/wire/dial.ts';
import { openStreamReader } from '../../src/server/mail/imap/wire/imap-stream-reader.ts';
import { openSession } from '../../src/server/mail/imap/wire/session.ts';
import { type Dovecot, DOVECOT_PASSWORD, startDovecot } from '../support/dovecot.ts';
import { gathered, inPieces, newMessage, octetsOf, readerOf, sessionWith, writerOf } from '../support/imap-session.ts';
import { openMailClient } from '../support/mail-client.ts';
import { needs } from '../support/needs.ts';

const BARE = 'IMAP4rev1 SASL-IR ID ENABLE NAMESPACE CHILDREN';
const LETTER = 'From: anna@sanbrunocable.example\r\nSubject: Letter\r\n\r\nDear Ben,\r\n\r\nAnna\r\n';
const letters = (count: number, flags: string[] = []) =>
  Array.from({ length: count }, (_, index) => newMessage(LETTER.replace('Letter', `Letter ${index}`), { flags }));

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at + 1);
}

async function appendAll(
  writer: MailWriter,
  path: string,
  messages: readonly NewMessage[],
  together = true,
): Promise<readonly Appended[]> {
  const { sent, outcome } = writer.append(path, inPieces(messages), { together });
  await sent;
  return outcome;
}

function uidsOf(outcomes: readonly Appended[]): (number | undefined)[] {
  return outcomes.map((outcome) => (outcome.kind === 'stored' ? outcome.uid : Number.NaN));
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

async function statusesBy({ url }: Dovecot, email: string, options?: { readonly withStatus: boolean }) {
  const { hostname: host, port } = new URL(url);
  const account = {
    email,
    place: { host, port: Number(port), security: 'open', named: 'by operator' },
    credentials: { kind: 'password', password: DOVECOT_PASSWORD },
  } as const;
  await using control = await openControl(account, { trusted: [] });
  return new Map((await control.mailboxes(options)).map(({ path, status }) => [path, status]));
}

/** Dovecot makes the inbox for whoever comes first, and refuses whoever else asks just then (ALREADYEXISTS). */
async function makeInbox(reader: MailReader): Promise<void> {
  await reader.open('INBOX');
}

async function* breakingOff(): AsyncGenerator<Buffer> {
  yield Buffer.from('Subject: half');
  throw new MailError('lost', 'The source has gone.');
}

/** Of two such ones a mailbox of a megabyte takes one. */
function half(): NewMessage {
  return newMessage(Buffer.alloc(600_000, 'full\r\n'));
}

describe('The transport with a real Dovecot', needs('dovecot'), () => {
  let dovecot: Dovecot;
  let bare: Dovecot;
  let zipped: Dovecot;
  beforeAll(async () => {
    [dovecot, bare, zipped] = await Promise.all([
      startDovecot(),
      startDovecot({ capabilities: BARE }),
      startDovecot({ compress: true, quota: 1 }),
    ]);
  });
  afterAll(async () => {
    await Promise.all([dovecot, bare, zipped].map((each) => each[Symbol.asyncDispose]()));
  });

  test('a group goes by one MULTIAPPEND, and its UIDs come back in its order', async () => {
    await using writer = await writerOf({ port: dovecot.port, user: 'group' });
    expect(writer.traits).toEqual({ together: true, literals: 'any size', saysUids: true });
    const outcomes = await appendAll(writer, 'INBOX', letters(5, ['\\Seen', '$Label1']));
    expect(uidsOf(outcomes)).toEqual([1, 2, 3, 4, 5]);
    await using reader = await readerOf({ port: dovecot.port, user: 'group' });
    const { uidValidity, uidNext, exists } = await reader.open('INBOX');
    expect(outcomes[0]).toEqual({ kind: 'stored', uid: 1, uidValidity });
    expect({ uidNext, exists }).toEqual({ uidNext: 6, exists: 5 });
    const [row] = (await gathered(reader.list('INBOX'))).flat();
    expect(row).toEqual({
      uid: 1,
      size: LETTER.length + 2,
      flags: ['\\Seen', '$Label1'],
      internalDate: new Date('2019-03-04T05:06:07Z'),
    });
  });

  test('a mailbox whose folder the server may not read is listed, though the server lists it as none to open', async () => {
    const user = 'forbidden';
    {
      await using mail = await openMailClient(dovecot.port, user, DOVECOT_PASSWORD);
      await mail.create('Sent');
      await mail.create('Work/2004');
    }
    await dovecot.forbid(user, 'Sent');
    await using mail = await openMailClient(dovecot.port, user, DOVECOT_PASSWORD);
    const listed = await mail.command('LIST "" "*"');
    expect(listed.find((line) => line.endsWith(' Sent'))).toMatch(/\\Noselect/i);
    expect([...(await statusesBy(dovecot, user)).keys()].toSorted()).toEqual(['INBOX', 'Sent', 'Work/2004']);
  });

  test('a connection that reads lists the mailboxes as they are now, and takes nothing away by it', async () => {
    const account = { port: dovecot.port, user: 'listing' };
    await using writer = await writerOf(account);
    await appendAll(writer, 'INBOX', letters(2, ['\\Deleted']));
    await using reader = await readerOf(account);
    expect(reader.canListMailboxes).toBe(true);
    expect((await gathered(reader.list('INBOX'))).flat()).toHaveLength(2);
    await writer.create('Later');
    await appendAll(writer, 'INBOX', letters(1));
    for (const exists of [3, 3]) {
      const listed = await reader.mailboxes({ withStatus: true });
      const statuses = new Map(listed.map(({ path, status }) => [path, status]));
      expect(statuses.get('INBOX')).toMatchObject({ exists, uidNext: 4 });
      expect(statuses.get('Later')).toMatchObject({ exists: 0 });
      expect((await gathered(reader.list('INBOX'))).flat()).toHaveLength(3);
    }
    await using without = await readerOf({ port: bare.port, user: 'listing' });
    expect(without.canListMailboxes).toBe(false);
  });

  test.each([
    { what: 'a plain', server: () => dovecot },
    { what: 'a compressed', server: () => zipped },
  ])(
    'mailboxes are listed ahead over $what connection, the refused and the empty one among them',
    async ({ server }) => {
      const account = { port: server().port, user: 'ahead' };
      await using writer = await writerOf(account, { compress: true });
      const counts = { One: 3, Empty: 0, Two: 250, Three: 1 };
      for (const [path, count] of Object.entries(counts)) {
        await writer.create(path);
        if (count > 0) await appendAll(writer, path, letters(count));
      }
      await using reader = await readerOf(account, { compress: true });
      const paths = ['One', 'Missing', 'Empty', 'Two', 'Three'];
      reader.listAhead(paths);
      const seen: Record<string, unknown> = {};
      for (const path of paths) {
        const { opened, pages } = reader.openAndList(path);
        const answer = await opened.catch((error: unknown) => error);
        seen[path] = answer instanceof MailError ? answer.fault : (await gathered(pages)).flat().map(({ uid }) => uid);
      }
      expect(seen).toEqual({ One: upTo(3), Missing: 'refused', Empty: [], Two: upTo(250), Three: [1] });

      // What is not asked for after all stands in nobody's way.
      reader.listAhead(paths);
      expect((await gathered(reader.openAndList('Three').pages)).flat()).toHaveLength(1);
      expect((await gathered(reader.list('Two'))).flat()).toHaveLength(250);
    },
  );

  test.each([
    { what: 'LITERAL+ and MULTIAPPEND', server: () => dovecot, together: true },
    { what: 'LITERAL+ alone', server: () => dovecot, together: false },
    { what: 'synchronising literals', server: () => bare, together: true },
    { what: 'a compressed connection', server: () => zipped, together: true },
  ])('every octet comes back as it went by $what', async ({ server, together }) => {
    const account = { port: server().port, user: `octets-${together}` };
    const originals = [
      Buffer.from(LETTER),
      Buffer.from('Subject: no line end'),
      Buffer.from('Subject: eight bits\r\n\r\n\xff\xfe\x80 (){%*"\\ A1 OK {12}\r\n', 'latin1'),
      Buffer.concat([Buffer.from('Subject: long\r\n\r\n'), Buffer.alloc(300_000, 'x')]),
    ];
    await using writer = await writerOf(account, { compress: true });
    const messages = originals.map((original) =>
      newMessage(original, { octets: inPieces([original.subarray(0, 7), original.subarray(7)]) }),
    );
    const outcomes = await appendAll(writer, 'INBOX', messages, together);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['stored', 'stored', 'stored', 'stored']);
    await using reader = await readerOf(account, { compress: true });
    const back: Buffer[] = [];
    for await (const { octets, size } of reader.fetch('INBOX', [1, 2, 3, 4])) {
      back.push(await octetsOf(octets));
      expect(size).toBe(back.at(-1)?.length);
    }
    expect(back.map((each) => each.equals(originals[back.indexOf(each)] ?? Buffer.alloc(0)))).toEqual([
      true,
      true,
      true,
      true,
    ]);
  });

  test('what streams from one connection into a compressed one arrives as it was', async () => {
    const [from, to] = [
      { port: dovecot.port, user: 'streamed' },
      { port: zipped.port, user: 'streamed' },
    ];
    const originals = Array.from({ length: 24 }, (_, at) =>
      Buffer.from(`Subject: ${at}\r\n\r\n${randomBytes(20_000 + at * 500).toString('base64')}`),
    );
    const uids = originals.map((_, at) => at + 1);
    {
      await using first = await writerOf(from);
      await appendAll(
        first,
        'INBOX',
        originals.map((original) => newMessage(original)),
      );
    }
    await using reader = await readerOf(from);
    await using writer = await writerOf(to, { compress: true });
    const streamed = (async function* () {
      for await (const { size, octets } of reader.fetch('INBOX', uids)) yield newMessage('', { size, octets });
    })();
    const outcomes = await writer.append('INBOX', streamed, { together: false }).outcome;
    expect(outcomes.map(({ kind }) => kind)).toEqual(originals.map(() => 'stored'));
    await using back = await readerOf(to, { compress: true });
    const same: boolean[] = [];
    for await (const { uid, octets } of back.fetch('INBOX', uids))
      same.push((await octetsOf(octets)).equals(originals[uid - 1] ?? Buffer.alloc(0)));
    expect(same).toEqual(originals.map(() => true));
  });

  test('a server without UIDPLUS says no UIDs, and nothing is expunged there', async () => {
    await using writer = await writerOf({ port: bare.port, user: 'no-uids' });
    expect(writer.traits).toEqual({ together: false, literals: 'synchronising', saysUids: false });
    // Dovecot tells them even so; the next server of this kind would not.
    expect((await appendAll(writer, 'INBOX', letters(2))).map(({ kind }) => kind)).toEqual(['stored', 'stored']);
    await expect(writer.expunge('INBOX', [1])).rejects.toMatchObject({ fault: 'refused' });
  });

  test('a slow reader holds the server up, and reads everything in the end', async () => {
    const account = { port: dovecot.port, user: 'slow' };
    await using writer = await writerOf(account);
    const body = Buffer.alloc(700_000, 'slow and steady\r\n');
    await appendAll(
      writer,
      'INBOX',
      Array.from({ length: 20 }, () => newMessage(body)),
    );
    await using reader = await readerOf(account);
    await reader.open('INBOX');
    // Both are asked for before the first is read.
    const first = reader.fetch(
      'INBOX',
      Array.from({ length: 10 }, (_, index) => index + 1),
    );
    const second = reader.fetch(
      'INBOX',
      Array.from({ length: 10 }, (_, index) => index + 11),
    );
    const sizes: number[] = [];
    for (const fetch of [first, second])
      for await (const { uid, octets } of fetch) {
        if (uid % 3 === 0) continue;
        for await (const chunk of octets) {
          await new Promise(setImmediate);
          sizes[uid] = (sizes[uid] ?? 0) + chunk.length;
        }
      }
    expect(sizes.filter((size) => size === body.length)).toHaveLength(14);
  });

  test('whoever stops reading in the middle of a message has the connection closed', async () => {
    const account = { port: dovecot.port, user: 'stops' };
    await using writer = await writerOf(account);
    await appendAll(writer, 'INBOX', [newMessage(Buffer.alloc(5_000_000, 'x\r\n')), newMessage(LETTER)]);
    const connection = await sessionWith(account);
    const reader = openStreamReader(connection);
    for await (const { octets } of reader.fetch('INBOX', [1, 2])) {
      for await (const chunk of octets) if (chunk.length > 0) break;
      break;
    }
    expect(connection.ended?.fault).toBe('lost');
    await expect(reader.open('INBOX')).rejects.toBeInstanceOf(MailError);
  });

  test('a worker that may not write any more sends not one octet of the rest', async () => {
    const account = { port: dovecot.port, user: 'lease' };
    await using reader = await readerOf(account);
    await makeInbox(reader);
    let may = true;
    // Nobody waits for the late answers.
    const clock: Clock = {
      ...MACHINE_CLOCK,
      after: (_milliseconds, run) => (may ? () => {} : MACHINE_CLOCK.after(0, run)),
    };
    await using writer = await writerOf(account, { mayWrite: () => may, clock });
    async function* octets() {
      yield Buffer.alloc(10, 'a');
      await new Promise(setImmediate);
      may = false;
      yield Buffer.alloc(10, 'b');
    }
    const { sent, outcome } = writer.append('INBOX', inPieces([newMessage('', { size: 20, octets: octets() })]), {
      together: true,
    });
    await expect(sent).rejects.toMatchObject({ fault: 'lost' });
    expect(await outcome).toMatchObject([{ kind: 'unknown' }]);
    expect((await reader.open('INBOX')).exists).toBe(0);
  });

  test('a source that breaks off closes the destination, and stores nothing of the message', async () => {
    const account = { port: dovecot.port, user: 'breaks' };
    await using reader = await readerOf(account);
    await makeInbox(reader);
    await using writer = await writerOf(account);
    const { sent, outcome } = writer.append(
      'INBOX',
      inPieces([newMessage(LETTER), newMessage('', { size: 100, octets: breakingOff() })]),
      { together: true },
    );
    await expect(sent).rejects.toThrow('The source has gone.');
    expect(await outcome).toMatchObject([{ kind: 'unknown' }, { kind: 'unknown' }]);
    expect((await reader.open('INBOX')).exists).toBe(0);
  });

  test('a full mailbox is told apart from a message that is not taken', async () => {
    await using writer = await writerOf({ port: zipped.port, user: 'full' });
    expect(await appendAll(writer, 'INBOX', [half(), half()], false)).toMatchObject([
      { kind: 'stored', uid: 1 },
      { kind: 'failed', error: { fault: 'full' } },
    ]);
    expect(await appendAll(writer, 'INBOX', [newMessage(LETTER), half(), newMessage(LETTER)], true)).toMatchObject([
      { kind: 'failed', error: { fault: 'full' } },
      { kind: 'failed', error: { fault: 'full' } },
      { kind: 'failed', error: { fault: 'full' } },
    ]);
    expect(await appendAll(writer, 'INBOX', [newMessage(LETTER)])).toMatchObject([{ kind: 'stored', uid: 2 }]);
  });

  test('appends follow each other on a connection without waiting for their answers', async () => {
    await using writer = await writerOf({ port: dovecot.port, user: 'follow' });
    const appendings = Array.from({ length: 8 }, () =>
      writer.append('INBOX', inPieces(letters(10)), { together: true }),
    );
    const outcomes = await Promise.all(appendings.map(({ outcome }) => outcome));
    expect(uidsOf(outcomes.flat())).toEqual(Array.from({ length: 80 }, (_, index) => index + 1));
  });

  test('one message is expunged by its UID, and what the subscriber marked stays', async () => {
    const account = { port: dovecot.port, user: 'expunge' };
    await using writer = await writerOf(account);
    await appendAll(writer, 'INBOX', letters(3, ['\\Deleted']));
    await writer.addFlags('INBOX', 3, ['\\Flagged', '\\Recent', 'bad flag']);
    await writer.expunge('INBOX', [2]);
    await using reader = await readerOf(account);
    const rows = (await gathered(reader.list('INBOX'))).flat();
    expect(rows.map(({ uid, flags }) => [uid, flags])).toEqual([
      [1, ['\\Deleted']],
      [3, ['\\Flagged', '\\Deleted']],
    ]);
    expect((await gathered(reader.look('INBOX', [1, 2, 3, 9]))).flat().map(({ uid }) => uid)).toEqual([1, 3]);
    expect((await gathered(reader.list('INBOX', 3))).flat().map(({ uid }) => uid)).toEqual([3]);
    expect((await gathered(reader.list('INBOX', 4))).flat()).toEqual([]);
    const fetched = await gathered(reader.fetch('INBOX', [2, 3]));
    expect(fetched.map(({ uid }) => uid)).toEqual([3]);
  });

  test('one connection writes, looks and writes again: each opens the mailbox anew after the other', async () => {
    const account = { port: dovecot.port, user: 'both' };
    await using writer = await writerOf(account);
    const checker = writer.reading();
    const uidsSeen = async () => (await gathered(checker.fetch('INBOX', upTo(9)))).map(({ uid }) => uid);
    await writer.select('INBOX');
    await appendAll(writer, 'INBOX', letters(2));
    await checker.open('INBOX');
    expect(await uidsSeen()).toEqual([1, 2]);
    // Over a mailbox that was opened to be read only it would be refused.
    await writer.addFlags('INBOX', 1, ['\\Flagged']);
    await appendAll(writer, 'INBOX', letters(1));
    expect(await uidsSeen()).toEqual([1, 2, 3]);
    await writer.expunge('INBOX', [2]);
    const rows = (await gathered(checker.list('INBOX'))).flat();
    expect(rows.map(({ uid, flags }) => [uid, flags])).toEqual([
      [1, ['\\Flagged']],
      [3, []],
    ]);
  });

  test('what mailboxes hold comes with their listing, if it is asked for and the server can', async () => {
    const user = 'listed@mail.example';
    for (const { port } of [dovecot, bare]) {
      await using writer = await writerOf({ port, user });
      await writer.create('Letters');
      await appendAll(writer, 'Letters', letters(3), false);
    }
    await using reader = await readerOf({ port: dovecot.port, user });
    const { uidValidity } = await reader.open('Letters');
    expect((await statusesBy(dovecot, user, { withStatus: true })).get('Letters')).toEqual({
      uidValidity,
      uidNext: 4,
      exists: 3,
    });
    for (const said of [await statusesBy(dovecot, user), await statusesBy(bare, user, { withStatus: true })]) {
      expect(new Set(said.keys())).toEqual(new Set(['INBOX', 'Letters']));
      expect([...said.values()]).toEqual([undefined, undefined]);
    }
  });

  test('STATUS, SEARCH and the headers say what is there', async () => {
    const account = { port: dovecot.port, user: 'says' };
    await using writer = await writerOf(account);
    const { uidValidity, keeps } = await writer.select('INBOX');
    expect(keeps(['\\Seen', '\\Recent', 'Any', '\\Odd', 'a b'])).toEqual(['\\Seen', 'Any']);
    await appendAll(writer, 'INBOX', [
      ...letters(2),
      newMessage(LETTER, { internalDate: new Date('2024-01-02T12:00:00Z') }),
      newMessage(`X: ${'long '.repeat(40_000)}\r\n\r\nbody`),
    ]);
    await using reader = await readerOf(account);
    const now = { uidValidity, uidNext: 5, exists: 4 };
    expect(await reader.status('INBOX')).toMatchObject(now);
    expect(await reader.open('INBOX')).toMatchObject(now);
    expect(await reader.search('INBOX')).toEqual([1, 2, 3, 4]);
    expect(await reader.search('INBOX', new Date('2024-01-01T00:00:00Z'))).toEqual([3]);
    const headers = await gathered(reader.headers('INBOX', [1, 4, 7]));
    expect(headers.map(({ uid }) => uid)).toEqual([1, 4]);
    expect(headers[0]?.header.toString()).toBe('From: anna@sanbrunocable.example\r\nSubject: Letter 0\r\n\r\n');
    expect(headers[1]?.header.length).toBe(65_536);
  });

  test('mailboxes are named in any script', async () => {
    const path = 'Entwürfe & "Späße" \\ 日本語/😀';
    {
      await using client = await openMailClient(dovecot.port, 'names', DOVECOT_PASSWORD);
      await client.create('Entw&APw-rfe &- "Sp&AOQA3w-e" \\ &ZeVnLIqe-/&2D3eAA-');
    }
    await using writer = await writerOf({ port: dovecot.port, user: 'names' });
    expect(uidsOf(await appendAll(writer, path, letters(1)))).toEqual([1]);
    await using reader = await readerOf({ port: dovecot.port, user: 'names' });
    expect((await reader.open(path)).exists).toBe(1);
    await expect(reader.open('Nowhere')).rejects.toMatchObject({ fault: 'refused' });
    const bodies = await gathered(reader.fetch(path, [1]));
    expect(bodies).toHaveLength(1);
  });

  test('a wrong password is refused as one', async () => {
    const account = { kind: 'password', password: 'wrong “horse”' } as const;
    const place = { host: '127.0.0.1', port: dovecot.port, security: 'open', named: 'by operator' } as const;
    const signIn = openSession(
      { email: 'anna', place, credentials: account },
      { dial: openDial({ trusted: [] }), clock: MACHINE_CLOCK },
    );
    await expect(signIn).rejects.toMatchObject({ fault: 'credentials', responseCode: 'AUTHENTICATIONFAILED' });
  });

  test('a message of 50 MB goes through without ever being whole in memory', { tags: 'proof' }, async () => {
    const account = { port: dovecot.port, user: 'large' };
    const piece = randomBytes(48 * 1024)
      .toString('base64')
      .replaceAll(/.{64}/g, '$&\r\n');
    const pieces = Math.ceil(50_000_000 / piece.length);
    const hash = createHash('sha256');
    let most = 0;
    const look = () => {
      // The first time counts what it frees only later; the second waits for that.
      collectGarbage();
      collectGarbage();
      const { arrayBuffers, heapUsed } = process.memoryUsage();
      most = Math.max(most, arrayBuffers + heapUsed);
    };
    async function* octets() {
      for (let index = 0; index < pieces; index++) {
        const chunk = Buffer.from(piece);
        hash.update(chunk);
        if (index % 50 === 0) look();
        yield chunk;
      }
    }
    look();
    const before = most;
    await using writer = await writerOf(account);
    const [outcome] = await appendAll(writer, 'INBOX', [
      newMessage('', { size: piece.length * pieces, octets: octets() }),
    ]);
    expect(outcome?.kind).toBe('stored');
    await using source = await readerOf(account);
    await using second = await writerOf(account);
    const copied = second.append('Copy', source.fetch('INBOX', [1]), { together: false });
    await copied.sent;
    expect(await copied.outcome).toMatchObject([{ kind: 'failed', error: { responseCode: 'TRYCREATE' } }]);
    const again = second.append('INBOX', source.fetch('INBOX', [1]), { together: false });
    await again.sent;
    expect(await again.outcome).toMatchObject([{ kind: 'stored', uid: 2 }]);
    const back = createHash('sha256');
    let chunks = 0;
    for await (const message of source.fetch('INBOX', [2]))
      for await (const chunk of message.octets) {
        back.update(chunk);
        if (++chunks % 40 === 0) look();
      }
    expect(back.digest('hex')).toBe(hash.digest('hex'));
    expect(most - before).toBeLessThan(16_000_000);
  });
});
