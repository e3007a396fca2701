import { setImmediate as later } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { heldControl, Hold, openHolds } from '../../src/server/mail/imap/hold.ts';
import { MailError } from '../../src/server/mail/imap/mail-error.ts';
import { openStreamWriter } from '../../src/server/mail/imap/wire/imap-stream-writer.ts';
import { manualClock, scriptedServer, scriptedSession } from '../support/scripted-imap.ts';

/** Two connections of one account; the server asks for a pause at EXAMINE. */
async function twoOfOne(milliseconds: number) {
  let append = '';
  const server = scriptedServer((line, { tag, say }) => {
    if (line.includes('EXAMINE')) say(`${tag} NO [THROTTLED] Suggested Backoff Time: ${milliseconds} milliseconds`);
    else if (line.includes('APPEND')) {
      append = tag;
      say('+ go on');
    } else if (line === 'hi') say(`${append} OK done`);
    else return false;
  });
  const hold = new Hold(server.clock);
  const [one, other] = [await scriptedSession(server, { hold }), await scriptedSession(server, { hold })];
  await expect(one.command('EXAMINE "INBOX"')).rejects.toMatchObject({ fault: 'busy', pause: milliseconds });
  return { ...server, hold, one, other };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await later();
}

test('a pause that one connection hears of is kept by all of the account, to the millisecond and in their order', async () => {
  const { other, one, clock, lines, hold, dial } = await twoOfOne(30_000);
  const said = lines.length;
  const asked = [other.command('SELECT "A"'), other.command('UID FETCH 1 (UID)'), one.command('NOOP')];
  const third = scriptedSession({ dial, clock }, { hold });
  const message = { size: 2, flags: [], internalDate: new Date(0), octets: octetsOf('hi') };
  const appending = openStreamWriter(other).append('A', messagesOf(message), { together: true });
  clock.pass(29_999);
  await settled();
  expect(lines.slice(said)).toEqual([]);
  clock.pass(1);
  await Promise.all(asked);
  await appending.sent;
  const theirs = lines.slice(said).map((line) => line.replace(/^A\d+ /, ''));
  expect(theirs.indexOf('SELECT "A"')).toBeLessThan(theirs.indexOf('UID FETCH 1 (UID)'));
  expect(theirs).toContain('NOOP');
  expect(theirs.some((line) => line.startsWith('APPEND'))).toBe(true);
  expect((await third).ended).toBeUndefined();
});

test('a pause that is longer than a run waits makes commands fail, with the time that is left of it', async () => {
  const { other, clock, lines, hold, dial } = await twoOfOne(120_000);
  const said = lines.length;
  clock.pass(20_000);
  const left = { fault: 'busy', pause: 100_000 };
  await expect(other.command('NOOP')).rejects.toMatchObject(left);
  await expect(scriptedSession({ dial, clock }, { hold })).rejects.toMatchObject(left);
  const message = { size: 2, flags: [], internalDate: new Date(0), octets: octetsOf('hi') };
  const appending = openStreamWriter(other).append('A', messagesOf(message), { together: true });
  await expect(appending.sent).rejects.toMatchObject(left);
  expect(await appending.outcome).toMatchObject([{ kind: 'failed' }]);
  expect(lines.slice(said)).toEqual([]);
  // A longer one is not made shorter by one that is told later.
  await expect(other.command('EXAMINE "INBOX"')).rejects.toMatchObject(left);
  clock.pass(100_000);
  await other.command('NOOP');
});

test('a goodbye waits for nobody, and ends what waits', async () => {
  const { other, one, lines } = await twoOfOne(30_000);
  const asked = ['SELECT "A"', 'UID FETCH 1 (UID)', 'NOOP'].map((line) => other.command(line));
  const outcomes = Promise.allSettled(asked);
  const said = lines.length;
  await settled();
  await other.logout();
  expect(await outcomes).toEqual(
    asked.map(() => ({ status: 'rejected', reason: expect.objectContaining({ fault: 'lost' }) })),
  );
  // None of them without the one before it.
  expect(lines.slice(said).map((line) => line.replace(/^A\d+ /, ''))).toEqual(['LOGOUT']);
  expect(lines.filter((line) => line.includes('LOGOUT'))).toHaveLength(1);
  const cut = one.command('NOOP');
  one.destroy();
  await expect(cut).rejects.toMatchObject({ fault: 'lost' });
});

test('work that has been asked to stop waits for no pause', async () => {
  const { hold, dial, clock, lines } = await twoOfOne(30_000);
  clock.pass(30_000);
  const stop = new AbortController();
  const connection = await scriptedSession({ dial, clock }, { hold, signal: stop.signal });
  hold.note(new MailError('busy', 'Again.', { pause: 30_000 }));
  const said = lines.length;
  const asked = connection.command('NOOP');
  const other = hold.ask(async () => 'asked', stop.signal);
  await settled();
  stop.abort();
  await expect(asked).rejects.toMatchObject({ fault: 'lost' });
  await expect(other).rejects.toMatchObject({ fault: 'lost' });
  expect(lines.slice(said)).toEqual([]);
});

test('a pause is of one account, and known to all that works on it in the process', () => {
  const clock = manualClock();
  const holds = openHolds(clock);
  holds('mail.example:993 anna', 'a').note(new MailError('busy', 'A pause.', { pause: 5000 }));
  clock.pass(1000);
  expect([holds('mail.example:993 anna', 'b').left, holds('mail.example:993 bert', 'a').left]).toEqual([4000, 0]);
  holds('mail.example:993 anna', 'a').note(new MailError('busy', 'A shorter one.', { pause: 10 }));
  expect(holds('mail.example:993 anna', 'a').left).toBe(4000);
  clock.pass(4000);
  expect(holds('mail.example:993 anna', 'a').left).toBe(0);
});

test('forty sign-ins of a transfer to an account may come at once, then one in three seconds, and those of others as before', async () => {
  const server = scriptedServer(() => false);
  const { clock } = server;
  const holds = openHolds(clock);
  let signedIn = 0;
  const signIn = async (account: string, transfer = 'a') => {
    await scriptedSession(server, { hold: holds(account, transfer) });
    signedIn += 1;
  };
  const anna = Array.from({ length: 43 }, () => signIn('mail.example:993 anna'));
  await settled();
  const counts = [signedIn];
  await signIn('mail.example:993 bert');
  await signIn('mail.example:993 anna', 'b');
  for (const milliseconds of [2999, 1, 3000, 3000]) {
    clock.pass(milliseconds);
    await settled();
    counts.push(signedIn);
  }
  await Promise.all(anna);
  expect(counts).toEqual([40, 42, 43, 44, 45]);
  // Two minutes without any make up for it.
  clock.pass(120_000);
  await Promise.all(Array.from({ length: 40 }, () => signIn('mail.example:993 anna')));
  const stop = new AbortController();
  const asked = scriptedSession(server, { hold: holds('mail.example:993 anna', 'a'), signal: stop.signal });
  stop.abort();
  await expect(asked).rejects.toThrow('aborted');
  // What is to be taken back soon waits for nobody, and whoever gives up leaves the next turn to the others.
  await scriptedSession(server, { hold: holds('mail.example:993 anna', 'a'), isUrgent: true });
  clock.pass(3000);
  await signIn('mail.example:993 anna');
});

test('a control waits like everybody else, and what it hears of a pause all know', async () => {
  const { hold, clock } = await twoOfOne(30_000);
  const asked: string[] = [];
  const busy = new MailError('busy', 'Again.', { pause: 50_000 });
  const opening = heldControl(hold, async () => {
    asked.push('opened');
    return {
      namespace: async () => {
        asked.push('namespace');
        return { prefix: '', delimiter: '/' };
      },
      mailboxes: async (options) => {
        asked.push(`mailboxes ${options?.withStatus}`);
        return [];
      },
      remove: async (path) => {
        asked.push(`remove ${path}`);
        throw busy;
      },
      [Symbol.asyncDispose]: async () => {
        asked.push('closed');
      },
    };
  });
  clock.pass(29_999);
  await settled();
  expect(asked).toEqual([]);
  clock.pass(1);
  const control = await opening;
  expect(await control.namespace()).toEqual({ prefix: '', delimiter: '/' });
  expect(await control.mailboxes({ withStatus: true })).toEqual([]);
  await expect(control.remove('A')).rejects.toBe(busy);
  expect(hold.left).toBe(50_000);
  const waiting = control.namespace();
  await settled();
  expect(asked).toEqual(['opened', 'namespace', 'mailboxes true', 'remove A']);
  clock.pass(50_000);
  await waiting;
  await control[Symbol.asyncDispose]();
  expect(asked.slice(4)).toEqual(['namespace', 'closed']);
});

async function* octetsOf(text: string) {
  yield Buffer.from(text);
}

async function* messagesOf<Message>(message: Message) {
  yield message;
}
