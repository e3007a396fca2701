import { describe, expect, test } from 'vitest';
import { MailError, type MailFault } from '../../src/server/mail/imap/mail-error.ts';
import type { Appended, MailWriter, NewMessage } from '../../src/server/mail/imap/streams.ts';
import { knownOf, openStreamWriter } from '../../src/server/mail/imap/wire/imap-stream-writer.ts';
import type { SessionOptions } from '../../src/server/mail/imap/wire/session.ts';
import { inPieces, newMessage } from '../support/imap-session.ts';
import { scriptedServer, scriptedSession, type Script, type Stage } from '../support/scripted-imap.ts';

async function writing(
  script: Script,
  capabilities: string,
  learnt = knownOf(null),
  options: Pick<SessionOptions, 'mayWrite'> = {},
) {
  const server = scriptedServer(script, { capabilities: `IMAP4rev1 SASL-IR AUTH=PLAIN ${capabilities}` });
  const connection = await scriptedSession(server, options);
  const writer = openStreamWriter(connection, learnt);
  const append = async (messages: readonly NewMessage[], together = true) => {
    const { sent, outcome } = writer.append('INBOX', inPieces(messages), { together });
    const [gone] = await Promise.allSettled([sent]);
    expect(gone.status === 'rejected' ? gone.reason : new MailError('lost', '')).toBeInstanceOf(MailError);
    return outcome;
  };
  return { writer, append, connection, ...server };
}

const failed = (fault: string, more: object = {}) => ({ kind: 'failed', error: { fault, ...more } });

/** Opens each mailbox as an empty one. */
const empty: Script = (line, { tag, say }) => {
  if (!line.includes(' SELECT ')) return false;
  say('* 0 EXISTS', '* OK [UIDVALIDITY 7] Valid', `${tag} OK done`);
};

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

test.each<[string, string, number]>([
  ['completes no append', 'MULTIAPPEND', 1],
  ['adds no message to one', 'MULTIAPPEND', 2],
  ['begins no other one', '', 2],
])('a worker that may not write any more %s', async (_, capabilities, count) => {
  let may = true;
  const { writer, lines, clock } = await writing(
    answering((tag) => `${tag} OK done`),
    capabilities,
    knownOf(null),
    { mayWrite: () => may },
  );
  async function* messages() {
    yield newMessage('a');
    await new Promise(setImmediate);
    may = false;
    if (count > 1) yield newMessage('b');
  }
  const { sent, outcome } = writer.append('INBOX', messages(), { together: true });
  await expect(sent).rejects.toMatchObject({ fault: 'lost' });
  await new Promise(setImmediate);
  const isOver = capabilities === '';
  expect(lines.filter((line) => line.includes('{') || line.startsWith('a'))).toEqual([
    expect.stringContaining(' APPEND "INBOX" () '),
    ...(isOver ? ['a'] : []),
  ]);
  // Late answers are waited for.
  clock.pass(10_000);
  expect((await outcome)[0]).toMatchObject({ kind: isOver ? 'stored' : 'unknown' });
});

test.each<[string, (writer: MailWriter) => Promise<unknown>]>([
  ['creates no mailbox', (writer) => writer.create('New')],
  ['sets no flags', (writer) => writer.addFlags('INBOX', 1, ['\\Seen'])],
])('a worker that may not write any more %s', async (_, write) => {
  let may = true;
  const { writer, lines, clock } = await writing(empty, '', knownOf(null), { mayWrite: () => may });
  await writer.select('INBOX');
  const before = lines.length;
  may = false;
  const failing = write(writer).catch((error: unknown) => error);
  await new Promise(setImmediate);
  clock.pass(10_000);
  expect(await failing).toMatchObject({ fault: 'lost' });
  expect(lines).toHaveLength(before);
});

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

test('a destination that never asks for a message is given up', async () => {
  const announced = Promise.withResolvers<void>();
  const { append, clock, connection } = await writing((line) => {
    if (!line.includes(' APPEND ')) return false;
    announced.resolve();
  }, '');
  const outcome = append([newMessage('text')]);
  await announced.promise;
  await new Promise(setImmediate);
  clock.pass(179_999);
  expect(connection.ended).toBeUndefined();
  clock.pass(1);
  expect(await outcome).toMatchObject([{ kind: 'unknown', error: { fault: 'slow' } }]);
});

/** What has been said since, without tags. */
const since = (lines: readonly string[], from: number) => lines.slice(from).map((line) => line.replace(/^A\d+ /, ''));

describe('Writing to odd servers', () => {
  const stored = { kind: 'stored' };

  test('appends to a mailbox that was looked at, where a server takes nothing into one that is open by EXAMINE (Courier)', async () => {
    let opened = '';
    const appends = answering((tag) =>
      opened === 'EXAMINE' ? `${tag} NO Current box is selected READ-ONLY.` : `${tag} OK done`,
    );
    const { writer, append } = await writing((line, stage) => {
      opened = / (EXAMINE|SELECT) /.exec(line)?.[1] ?? opened;
      return appends(line, stage);
    }, '');
    await writer.select('INBOX');
    await writer.reading().open('INBOX');
    expect(await append([newMessage('abc')])).toEqual([stored]);
  });

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
      knownOf('office365'),
    );
    expect(await append([newMessage('a'.repeat(4096)), newMessage('a'.repeat(4097))])).toEqual([stored, stored]);
    expect(seen.filter((line) => line.includes('APPEND')).map((line) => /\{.*/.exec(line)?.[0])).toEqual([
      '{4096+}',
      '{4097}',
    ]);
  });

  test.each([
    ['yahoo', ['\\Seen', 'work']],
    ['aol', ['\\Seen', 'work']],
    ['google', ['\\Seen', 'work']],
    ['office365', ['\\Seen', '\\DELETED', 'work']],
    [null, ['\\Seen', '\\DELETED', 'work']],
  ] as const)('of a message that is marked as deleted, by %s', async (provider, kept) => {
    const { writer } = await writing(empty, '', knownOf(provider));
    const { keeps } = await writer.select('INBOX');
    expect(keeps(['\\Seen', '\\DELETED', 'work'])).toEqual(kept);
  });

  test('of a message that is marked as deleted, by one that turns out to refuse it', async () => {
    const learnt = knownOf(null);
    const appends = answering((tag) => `${tag} NO [CANNOT] APPEND Contains Deleted flag`);
    const script: Script = (line, stage) => (empty(line, stage) === false ? appends(line, stage) : undefined);
    const { writer: first, append } = await writing(script, '', learnt);
    const { keeps } = await first.select('INBOX');
    const marked = ['one', 'two'].map((text) => newMessage(text, { flags: ['\\Deleted'] }));
    expect(await append(marked)).toMatchObject([failed('lost'), failed('lost')]);
    expect(keeps(['\\Seen', '\\Deleted'])).toEqual(['\\Seen']);
    const { writer, append: appendAgain } = await writing(script, '', learnt);
    expect((await writer.select('INBOX')).keeps(['\\Seen', '\\Deleted'])).toEqual(['\\Seen']);
    // Whatever it says of one without that mark is of the message.
    expect(await appendAgain([newMessage('text')])).toMatchObject([{ kind: 'refused', reason: 'not accepted' }]);
  });

  test.each<[string, string, string[], boolean]>([
    ['is listed', 'Family', ['* LIST () "/" Family'], true],
    ['is listed in small letters', 'Family', ['* list () "/" Family'], true],
    ['only has others below it', 'Family', ['* LIST (\\Noselect) "/" Family'], false],
    ['is not listed', 'Family', [], false],
    ['has a name that stands for others', '*', ['* LIST () "/" Family'], false],
  ])('of a mailbox that lets nobody in and %s', async (_what, path, listed, isThere) => {
    const { writer } = await writing((line, { tag, say }) => {
      if (!/ (CREATE|STATUS|LIST) /.test(line)) return false;
      if (line.includes(' LIST ')) say(...listed, `${tag} OK done`);
      else say(`${tag} NO Permission denied`);
    }, '');
    const made = await writer.create(path).catch((error: unknown) => error);
    expect([made === false, made instanceof MailError]).toEqual([isThere, !isThere]);
  });

  test.each<[string, string, string, boolean]>([
    ['Gmail keeps to itself, and shows to nobody', 'NO [NONEXISTENT] Unknown Mailbox: Spam (Failure)', 'OK', false],
    ['can’t be asked about', 'NO no', 'NO no', true],
  ])('of a name that is said to exist already and %s', async (_what, status, list, isThere) => {
    const { writer } = await writing((line, { tag, say }) => {
      if (line.includes(' CREATE '))
        say(`${tag} NO [ALREADYEXISTS] Folder name conflicts with existing folder name. (Failure)`);
      else if (line.includes(' STATUS ')) say(`${tag} ${status}`);
      else if (line.includes(' LIST ')) say(`${tag} ${list} done`);
      else return false;
    }, '');
    const made = await writer.create('Spam').catch((error: unknown) => error);
    expect([made === false, made instanceof MailError]).toEqual([isThere, !isThere]);
  });

  test('learns from a server that says LITERAL+ and hangs up at large ones that do not wait (Cyrus)', async () => {
    const learnt = knownOf(null);
    const seen: string[] = [];
    const appends = answering((tag) => `${tag} OK done`, seen);
    const script: Script = (line, stage) => {
      if (!line.endsWith('{5000+}')) return appends(line, stage);
      stage.say('* BYE [TOOBIG] Non-synchronizing literal size exceeds 4K');
      stage.hangUp();
    };
    const append = async () => (await writing(script, 'LITERAL+', learnt)).append([newMessage('a'.repeat(5000))]);
    expect(await append()).toMatchObject([{ kind: 'unknown' }]);
    expect(await append()).toEqual([stored]);
    expect(seen[0]).toMatch(/\{5000\}$/);
    // Any other end of a connection teaches nothing.
    const other = knownOf(null);
    const { writer } = await writing(appends, 'LITERAL+', other);
    await writer[Symbol.asyncDispose]();
    expect(other).toEqual(knownOf(null));
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
    ['NO [LIMIT] Too many flags in mailbox', { kind: 'refused', reason: 'not accepted', isOfFlags: true }],
    ['NO [LIMIT] Too many IMAP commands', failed('busy')],
    ['NO [THROTTLED] slow down', failed('busy')],
    ['NO [UNAVAILABLE] later', failed('busy')],
    ['NO [INUSE] somebody else', failed('busy')],
    ['NO [SERVERBUG] oh', failed('busy')],
    ['NO [EXPIRED] again', failed('credentials')],
    ['NO [NOPERM] not yours', failed('refused')],
    ['BAD Request is throttled. Suggested Backoff Time: 5 milliseconds', failed('busy', { pause: 5 })],
    ['NO [THROTTLED] Backoff Time: 999999999 milliseconds', failed('busy', { pause: 86_400_000 })],
    ['NO Server Unavailable. 15', failed('busy')],
    ['NO [LIMIT] CAPABILITY Rate limit hit.', failed('busy')],
    ['NO [LIMIT] Hourly transfer limit reached', failed('busy')],
    ['NO [LIMIT] Connection limit reached', failed('busy')],
    ['NO Too many simultaneous connections', failed('busy')],
    ['BAD User is authenticated but not connected.', failed('busy')],
    ['NO mailbox storage limit has been exceeded', failed('full')],
    ['NO APPEND would exceed its disk quota', failed('full')],
    ['NO Quota limit will be exceeded', failed('full')],
    ['NO [ALERT] You exceeded your mail quota.', failed('full')],
    ['NO Over quota', failed('full')],
    ['NO Your quota has been exceeded.', failed('full')],
    ['NO [OVERQUOTA] Account exceeded command or bandwidth limits. (Failure)', failed('busy')],
    ['NO [ALERT] Account exceeded command or bandwidth limits. (Failure)', failed('busy')],
    ['NO Mailbox full', failed('full')],
    ['NO The user is over their quota', failed('full')],
    ['NO Message exceeds the maximum allowed size', { kind: 'refused', reason: 'too large' }],
    ['NO Message size exceeds fixed limit', { kind: 'refused', reason: 'too large' }],
    ['NO Maximum size of appendable message has been exceeded', { kind: 'refused', reason: 'too large' }],
    ['NO Message contains invalid header', { kind: 'refused', reason: 'not accepted' }],
    ['BAD Command Argument Error. 11', { kind: 'refused', reason: 'not accepted', isMisread: true }],
    ['NO [CANNOT] Keyword length too long', { kind: 'refused', reason: 'not accepted', isOfFlags: true }],
    ["NO Can't save a zero byte message.", { kind: 'refused', reason: 'not accepted' }],
    ['NO [ALERT] Message too large. (Failure)', { kind: 'refused', reason: 'too large' }],
    ['NO [LIMIT] APPEND Message size exceeds limit', { kind: 'refused', reason: 'too large' }],
    ['NO [CANNOT] APPEND Message contains a virus', { kind: 'refused', reason: 'virus' }],
    ['NO [TOOBIG] large', { kind: 'refused', reason: 'too large', text: 'large' }],
    ['NO [APPENDLIMIT] large', { kind: 'refused', reason: 'too large' }],
    ['BAD maximum message size exceeded', { kind: 'refused', reason: 'too large' }],
    ['NO it contains a virus', { kind: 'refused', reason: 'virus' }],
    [
      'BAD [CLIENTBUG] Additional arguments',
      { kind: 'refused', reason: 'not accepted', text: 'Additional arguments', isMisread: true },
    ],
    ['NO', { kind: 'refused', reason: 'not accepted', text: '' }],
    ['BYE', { kind: 'unknown', error: { fault: 'lost' } }],
  ])('%j is told apart', async (said, expected) => {
    const { append } = await writing(
      answering((tag) => (said === 'BYE' ? '* BYE\r\nA' : `${tag} ${said}`)),
      'LITERAL+',
    );
    const isSo = { isMisread: undefined, isOfFlags: undefined };
    const [outcome] = await append([newMessage('a')]);
    expect({ ...isSo, ...outcome }).toMatchObject({ ...isSo, ...expected });
  });

  test.each<[string, MailFault]>([
    ['Session expired', 'lost'],
    ['Account exceeded command or bandwidth limits.', 'busy'],
    ['[UNAVAILABLE] later', 'busy'],
    ['[LIMIT] Resource limit exceeded', 'lost'],
    ['[OVERQUOTA] full', 'full'],
    ['[EXPIRED] again', 'credentials'],
  ])('what it has not answered before its goodbye (%s) may be stored', async (words, fault) => {
    const { append } = await writing((line, stage) => {
      if (line === 'b') {
        stage.say(`* BYE ${words}`);
        stage.hangUp();
      } else if (!line.includes(' APPEND ') && !line.startsWith('a ')) return false;
    }, 'LITERAL+ MULTIAPPEND');
    const unknown = { kind: 'unknown', error: { fault } };
    expect(await append([newMessage('a'), newMessage('b')])).toMatchObject([unknown, unknown]);
  });

  test('what is refused in place of “go on” leaves the connection as it was', async () => {
    let tag = '';
    let appends = 0;
    const { append, lines } = await writing((line, stage) => {
      if (line.includes(' APPEND ')) {
        ({ tag } = stage);
        stage.say(++appends === 1 ? `${tag} NO [TRYCREATE] no` : '+');
      } else if (line === 'bb') stage.say(`${tag} OK [APPENDUID 7 1] done`);
      else return false;
    }, 'UIDPLUS MULTIAPPEND');
    expect(await append([newMessage('a'), newMessage('b')])).toMatchObject([{ kind: 'failed' }, { kind: 'failed' }]);
    expect(await append([newMessage('bb')])).toMatchObject([{ kind: 'stored', uid: 1 }]);
    expect(appends).toBe(2);
    expect(lines).not.toContain('');
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
    ['too few', ['a', 'b']],
    ['too many', ['a', 'bc\r\n']],
  ])('a message with %s octets is not sent to its end', async (_what, pieces) => {
    const { writer, connection, lines } = await writing(
      (line) => (line.includes(' APPEND ') ? undefined : false),
      'LITERAL+',
    );
    async function* octets() {
      for (const piece of pieces) {
        yield Buffer.from(piece);
        await new Promise(setImmediate);
      }
    }
    const { sent, outcome } = writer.append('INBOX', inPieces([newMessage('', { size: 3, octets: octets() })]), {
      together: false,
    });
    await expect(sent).rejects.toBeInstanceOf(RangeError);
    // Else the server would store a part of it.
    await new Promise(setImmediate);
    expect(lines.at(-1)).toContain(' APPEND ');
    expect(connection.ended?.fault).toBe('lost');
    expect(await outcome).toMatchObject([{ kind: 'unknown' }]);
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
    ['a refusal without a reason', 'NO no', { fault: 'refused', responseCode: undefined }],
    ['a refusal that is to be shown', 'NO [ALERT] Something is wrong', { fault: 'refused', responseCode: undefined }],
    ['a full account', 'NO [OVERQUOTA] full', { fault: 'full' }],
    ['a busy server', 'NO [UNAVAILABLE] later', { fault: 'busy' }],
    ['a limit of the server', 'NO [LIMIT] Too many folders', { fault: 'refused', responseCode: 'LIMIT' }],
    ['a limit of the account', 'NO [LIMIT] CREATE Folder limit reached', { fault: 'refused' }],
    ['a limit of what is asked', 'NO [LIMIT] CREATE Rate limit hit.', { fault: 'busy' }],
    ['a code of a sign-in', 'NO [AUTHORIZATIONFAILED] not here', { fault: 'refused' }],
  ])('%s comes out of a creation', async (_, created, fault) => {
    const { writer } = await writing((line, { tag, say }) => {
      if (line.includes(' CREATE ')) say(`${tag} ${created}`);
      else if (line.includes(' STATUS ')) say(`${tag} NO there is none`);
      else return false;
    }, '');
    await expect(writer.create('Family')).rejects.toMatchObject(fault);
  });

  test('messages that are to go alone do so, also where a server takes several at once', async () => {
    const { append, lines } = await writing(
      answering((tag) => `${tag} OK done`),
      'LITERAL+ MULTIAPPEND',
    );
    expect(await append([newMessage('a'), newMessage('b')], false)).toMatchObject([stored, stored]);
    expect(lines.filter((line) => line.includes(' APPEND '))).toHaveLength(2);
  });

  test('however many messages are expunged, each is named once, and no command is longer than servers take', async () => {
    const { writer, lines } = await writing(empty, 'UIDPLUS');
    const uids = Array.from({ length: 5000 }, (_, at) => 2 * at + 1);
    await writer.expunge('INBOX', uids);
    const said = lines.filter((line) => line.includes('UID EXPUNGE'));
    expect(said.flatMap((line) => line.split(' ').at(-1)?.split(',').map(Number))).toEqual(uids);
    expect(Math.max(...said.map(({ length }) => length))).toBeLessThan(8192);
  });

  test('messages are expunged by their UIDs, in their own mailbox, unless they have changed since', async () => {
    const { writer, lines } = await writing(empty, 'UIDPLUS CONDSTORE');
    for (const path of ['First', 'Second']) await writer.select(path);
    let from = lines.length;
    await writer.expunge('First', [9, 4, 3], 12n);
    await writer.undelete('Second', [9, 3]);
    expect(since(lines, from)).toEqual([
      'SELECT "First"',
      'UID STORE 3:4,9 (UNCHANGEDSINCE 12) +FLAGS.SILENT (\\Deleted)',
      'UID EXPUNGE 3:4,9',
      'SELECT "Second"',
      'UID STORE 3,9 -FLAGS.SILENT (\\Deleted)',
    ]);
    from = lines.length;
    await writer.expunge('Second', [5]);
    expect(since(lines, from)).toEqual(['UID STORE 5 +FLAGS.SILENT (\\Deleted)', 'UID EXPUNGE 5']);
  });

  test('no message is expunged where that takes others with it, nor under another UIDVALIDITY', async () => {
    const plain = await writing(empty, 'CONDSTORE');
    await plain.writer.select('INBOX');
    const said = plain.lines.length;
    await expect(plain.writer.expunge('INBOX', [3])).rejects.toMatchObject({ fault: 'refused' });
    expect(plain.lines).toHaveLength(said);
    const uncounted = await writing(empty, 'UIDPLUS');
    await uncounted.writer.select('INBOX');
    await uncounted.writer.expunge('INBOX', [3], 12n);
    expect(uncounted.lines.join()).not.toContain('UNCHANGEDSINCE');

    let validity = 7;
    const { writer, lines, connection } = await writing((line, { tag, say }) => {
      if (!line.includes(' SELECT ')) return false;
      say('* 0 EXISTS', `* OK [UIDVALIDITY ${validity}] Valid`, `${tag} OK done`);
    }, 'UIDPLUS');
    for (const path of ['First', 'Second']) await writer.select(path);
    expect(writer.isOver).toBe(false);
    validity = 8;
    await expect(writer.expunge('First', [3])).rejects.toBeInstanceOf(MailError);
    expect(lines.filter((line) => line.includes('UID '))).toEqual([]);
    expect([writer.isOver, connection.ended?.fault]).toEqual([true, 'lost']);
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

  test.each(['0', '-1', '', 'x', '1e999'])('a limit of %j is none', async (limit) => {
    const { writer } = await writing((line, { tag, say }) => {
      if (!line.includes('STATUS')) return false;
      say(`* STATUS INBOX (APPENDLIMIT ${limit})`, `${tag} OK`);
    }, `APPENDLIMIT APPENDLIMIT=${limit}`);
    expect(writer.traits).not.toHaveProperty('appendLimit');
    expect(await writer.select('INBOX')).not.toHaveProperty('appendLimit');
  });

  test('of a mailbox that can’t be created for a moment nothing else is asked', async () => {
    const { writer, lines } = await writing((line, { tag, say }) => {
      if (!line.includes('CREATE')) return false;
      say(`${tag} NO [UNAVAILABLE] later`);
    }, '');
    await expect(writer.create('A')).rejects.toMatchObject({ fault: 'busy' });
    expect(lines.at(-1)).toContain('CREATE');
  });

  test('what is no flag is sent in no command', async () => {
    const seen: string[] = [];
    const script = answering((tag) => `${tag} OK done`, seen);
    const { writer, append, lines } = await writing(script, 'LITERAL+');
    const odd = ['a b', 'x"y', 'x(', 'x)', '{3}', '%', '*', ']', 'a\\b', 'é', '\x7f', '\x01', '', '\\', 'x\r\nA9 NOOP'];
    const flags = ['\\Seen', ...odd, '$Mine', '~ok!'];
    expect(await append([newMessage('text', { flags })])).toEqual([stored]);
    expect(seen[0]).toContain(' (\\Seen $Mine ~ok!) ');
    const { keeps } = await writer.select('INBOX');
    expect(keeps([...flags, '\\Recent'])).toEqual(['\\Seen', '$Mine', '~ok!']);
    const before = lines.length;
    await writer.addFlags('INBOX', 3, odd);
    expect(lines.slice(before)).toEqual([]);
  });

  test.each([
    ['OK [MODIFIED 2] Conditional STORE failed', 'done', ['UID EXPUNGE 1:2']],
    ['NO [MODIFIED 2] Some are not there', 'done', ['UID EXPUNGE 1:2']],
    ['NO [NOPERM] Not here', 'refused', []],
  ])('what has changed since is not removed, and the others are: %s', async (answer, end, expunges) => {
    const script: Script = (line, { tag, say }) => {
      if (!line.includes(' UID STORE ')) return false;
      say(`${tag} ${answer}`);
    };
    const { writer, lines } = await writing(script, 'UIDPLUS CONDSTORE');
    const opened = await writer.reading().open('INBOX', { counted: true });
    expect(lines.at(-1)).toMatch(/ SELECT "?INBOX"? \(CONDSTORE\)$/);
    expect(opened.highestModseq).toBeUndefined();
    const ended = await writer.expunge('INBOX', [1, 2], 15n).then(
      () => 'done',
      (error: unknown) => error instanceof MailError && error.fault,
    );
    expect(ended).toBe(end);
    const [store, ...others] = lines.flatMap((line) =>
      line.includes(' UID ') ? [line.slice(line.indexOf('UID'))] : [],
    );
    expect(store).toBe('UID STORE 1:2 (UNCHANGEDSINCE 15) +FLAGS.SILENT (\\Deleted)');
    expect(others).toEqual(expunges);
  });

  test('a server that counts no changes is not asked to', async () => {
    const { writer, lines } = await writing(() => false, 'UIDPLUS');
    await writer.reading().open('INBOX', { counted: true });
    await writer.expunge('INBOX', [1], 15n);
    expect(lines.filter((line) => /CONDSTORE|UNCHANGEDSINCE/.test(line))).toEqual([]);
  });

  test('a mailbox says its own limit', async () => {
    const { writer } = await writing((line, { tag, say }) => {
      if (!line.includes('STATUS')) return false;
      say('* STATUS INBOX (APPENDLIMIT 99)', `${tag} OK`);
    }, 'APPENDLIMIT');
    expect(await writer.select('INBOX')).toMatchObject({ appendLimit: 99, uidValidity: 7n });
  });

  test('flags that a mailbox does not keep are left out', async () => {
    let permanent = '\\Seen $Known';
    const { writer } = await writing((line, { tag, say }) => {
      if (!line.includes('SELECT')) return false;
      say('* OK [UIDVALIDITY 7]', `* OK [PERMANENTFLAGS (${permanent})]`, `${tag} OK`);
    }, '');
    const { keeps } = await writer.select('INBOX');
    expect(keeps(['\\seen', '\\Flagged', '$known', '$Other'])).toEqual(['\\seen', '$known']);
    // It takes new keywords, but no system flags of others.
    permanent = '\\Seen \\*';
    const { keeps: keepsNew } = await writer.select('INBOX');
    expect(keepsNew(['\\Seen', '\\Flagged', '$Other'])).toEqual(['\\Seen', '$Other']);
  });
});
