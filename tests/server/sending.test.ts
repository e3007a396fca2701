import type { Orphans } from '../../src/server/mail/copy/run/mail-copy.ts';
import { expect, test } from 'vitest';
import type { Group, LedgerMailbox, NewRow } from '../../src/server/mail/copy/ledger/ledger.ts';
import { ProviderLimit } from '../../src/server/mail/copy/run/budget.ts';
import type { Run, Session } from '../../src/server/mail/copy/run/run.ts';
import { SIZES, type Sizes } from '../../src/server/mail/copy/run/sizes.ts';
import { sendMessages } from '../../src/server/mail/copy/storing/sending.ts';
import type { Sending, Unsaid } from '../../src/server/mail/copy/storing/settling.ts';
import { MailError } from '../../src/server/mail/imap/mail-error.ts';
import type {
  Appended,
  MailReader,
  MailWriter,
  NewMessage,
  RefusalReason,
} from '../../src/server/mail/imap/streams.ts';
import { LeaseLost } from '../../src/server/transfers/lease.ts';
import { octetsOf } from '../support/imap-session.ts';
import { memoryAccount, type MemoryMessage } from '../support/memory-mailbox.ts';

const MAILBOX: LedgerMailbox = { id: 1, sourcePath: 'INBOX', sourceUidValidity: 1n, destinationPath: 'Sent' };
const LOST = new LeaseLost('one');

/** Stores everything, and says no UIDs. */
function storing(_: string, given: AsyncIterable<NewMessage>) {
  const stored = (async () => {
    const outcomes: Appended[] = [];
    for await (const { octets } of given) {
      for await (const _chunk of octets);
      outcomes.push({ kind: 'stored' });
    }
    return outcomes;
  })();
  return { sent: stored, outcome: stored };
}

/** Refuses a message before it is sent any octets, or stores it. */
function refusing(refuses: (message: NewMessage) => RefusalReason | null): typeof storing {
  return (path, given) => {
    const outcomes: Appended[] = [];
    async function* accepted() {
      for await (const message of given) {
        const reason = refuses(message);
        outcomes.push(reason === null ? { kind: 'stored' } : { kind: 'refused', reason, text: 'No.' });
        if (reason === null) yield message;
      }
    }
    const { sent } = storing(path, accepted());
    return { sent, outcome: sent.then(() => outcomes) };
  };
}

type Destination = {
  readonly mayWrite?: boolean;
  readonly found?: () => Promise<void>;
  readonly append?: (...given: Parameters<MailWriter['append']>) => ReturnType<typeof storing>;
  readonly appendLimit?: number;
  /** Of both messages, which have a date that every server takes if they have flags. */
  readonly flags?: readonly string[];
  readonly hasOddDate?: boolean;
  /** Of each message. */
  readonly end?: string;
  /** Reads what is there; otherwise that is of another UIDVALIDITY. */
  readonly checker?: MailReader;
  readonly settle?: (rows: readonly NewRow[]) => Promise<readonly NewRow[]>;
  readonly goesOn?: boolean;
  /** Called before each group. */
  readonly take?: () => Promise<void>;
  readonly sizes?: Sizes;
};

/** Sends two messages to a server that says no UIDs. @returns what was looked for, told the operator, and refused */
async function sent({
  mayWrite = true,
  found = async () => {},
  append = storing,
  appendLimit,
  flags = [],
  hasOddDate = flags.length === 0,
  end = '\r\n',
  checker = { open: async () => ({ uidValidity: 4n }) } as unknown as MailReader,
  settle = async () => [],
  goesOn = true,
  take = async () => {},
  sizes = SIZES,
}: Destination) {
  const rows: NewRow[] = [];
  const messages = [1, 2].map((uid) => ({
    uid,
    bytes: Buffer.from(`Subject: ${uid}${end}`),
    flags: [...flags],
    internalDate: new Date(hasOddDate ? 0 : 1e12),
  }));
  const { source } = memoryAccount([{ path: 'INBOX', messages }]);
  const told: Orphans[] = [];
  const looked: number[] = [];
  const ended: number[] = [];
  const copy = {
    sizes,
    clock: { now: () => 2e12 },
    ledger: {
      open: async (groups: readonly Omit<Group, 'id'>[]) => groups.map((group, id) => ({ ...group, id })),
      settle: async (settled: readonly NewRow[]) => (rows.push(...settled), settle(settled)),
    },
    lease: { mayWrite: () => mayWrite },
    signal: new AbortController().signal,
    onStep: async () => {},
    onOrphans: (_mailbox: unknown, left: Orphans) => told.push(left),
  };
  const sending = {
    mailbox: MAILBOX,
    selected: { uidValidity: 3n, uidNext: 10, keeps: (flags: readonly string[]) => flags, appendLimit },
    session: {
      reader: await source.reader(),
      writer: { append, traits: { saysUids: false } },
      checker,
    } as unknown as Session,
    run: {
      copy,
      said: new Map(),
      otherwise: new Map(),
      room: async () => {},
      budget: { take, correct: () => {} },
      settled: () => {},
      faults: () => 0,
      noteFault: () => 1,
      forgetFaults: () => {},
    } as unknown as Run,
    goesOn: () => goesOn,
    claims: new Set(),
    resolve: async (unsaid: readonly Unsaid[], groups: readonly number[]) => {
      looked.push(...unsaid.map(({ uid }) => uid));
      ended.push(...groups);
      await found();
    },
  } as unknown as Sending;
  const planned = messages.map(({ uid, bytes }) => ({ uid, size: bytes.length, date: 0 }));
  const failure = await sendMessages(planned, sending).catch((error: unknown) => error);
  const refused = rows.map(({ reason, subject }) => ({ reason, subject }));
  return { failure, looked, ended, told, refused };
}

test('what was stored without a UID is looked for at once, and the operator has nothing to do', async () => {
  expect(await sent({})).toEqual({
    failure: undefined,
    looked: [1, 2],
    ended: [0],
    told: [],
    refused: [],
  });
});

test('what a busy server has stored is looked for at once, and what it may have stored is still under way', async () => {
  const busy = new MailError('busy', 'Not now.');
  const append: typeof storing = (path, given) => {
    const { sent } = storing(path, given);
    return { sent, outcome: sent.then(([first]) => [first ?? { kind: 'stored' }, { kind: 'unknown', error: busy }]) };
  };
  expect(await sent({ append })).toMatchObject({ failure: busy, looked: [1], ended: [] });
});

test('what can’t be looked for because another worker has taken over is reported to the operator, one by one', async () => {
  expect(await sent({ mayWrite: false, found: () => Promise.reject(LOST) })).toEqual({
    failure: LOST,
    looked: [1, 2],
    ended: [0],
    told: [{ uids: [], unsaid: 2 }],
    refused: [],
  });
});

test('where the outcome can’t be written down, nothing goes on as if it had been', async () => {
  const settle = () => Promise.reject(LOST);
  expect(await sent({ settle })).toMatchObject({ failure: LOST, looked: [] });
});

test('once the copy is stopped, no message is sent any more', async () => {
  let appends = 0;
  const append: typeof storing = (path, given) => {
    appends += 1;
    return storing(path, given);
  };
  expect(await sent({ append, goesOn: false })).toMatchObject({ failure: { name: 'Stopped' }, looked: [] });
  expect(appends).toBe(0);
});

test('what a group under way did not need of a day’s octets is left to the next one', async () => {
  const sizes = { ...SIZES, group: { ...SIZES.group, messages: 1 } };
  const spent = new ProviderLimit('destination', 0);
  let takes = 0;
  const limited = async () => {
    takes += 1;
    if (takes === 2) throw spent;
  };
  expect(await sent({ sizes, take: limited })).toMatchObject({ failure: undefined, looked: [1, 2] });
  takes = 1;
  expect(await sent({ sizes, take: limited })).toMatchObject({ failure: spent, looked: [] });
});

test('of messages for which there is no room together, those for which there is are stored', async () => {
  const error = new MailError('full', 'Over quota.');
  let stored = 0;
  const append = (path: string, given: AsyncIterable<NewMessage>, { together }: { readonly together: boolean }) => {
    const { sent } = storing(path, given);
    const fits = async () =>
      (await sent).map((each): Appended => {
        if (together || stored > 0) return { kind: 'failed', error };
        stored += 1;
        return each;
      });
    return { sent, outcome: fits() };
  };
  expect(await sent({ append })).toMatchObject({ failure: error });
  expect(stored).toBe(1);
});

test('a message that is refused for its date before its octets are asked for is sent with another date', async () => {
  const append = refusing(({ internalDate }) => (internalDate.getTime() === 0 ? 'not accepted' : null));
  expect(await sent({ append })).toMatchObject({ looked: [1, 2], refused: [] });
});

test.each<[string, string, boolean, number]>([
  ['its date', 'Invalid date', false, 2],
  ['its end', 'Additional arguments', true, 2],
  ['its date, once it was sent alone', 'Invalid date', false, 4],
  ['its end, once it was sent alone', 'Additional arguments', true, 4],
])(
  'a message that was stored, though the server refused it for %s, is not sent again',
  async (_, text, isMisread, tries) => {
    const messages: MemoryMessage[] = [];
    const { source } = memoryAccount([{ path: 'Sent', uidValidity: 3n, messages }]);
    let appends = 0;
    const append: typeof storing = (__, given) => {
      const outcomes = (async () => {
        const all: Appended[] = [];
        for await (const { octets, flags, internalDate } of given) {
          appends += 1;
          const bytes = await octetsOf(octets);
          if (appends > tries - 2) messages.push({ uid: 9 + appends, bytes, flags, internalDate });
          all.push({ kind: 'refused', reason: 'not accepted', text, ...(isMisread ? { isMisread } : {}) });
        }
        return all;
      })();
      return { sent: outcomes.then(() => undefined), outcome: outcomes } as unknown as ReturnType<typeof storing>;
    };
    const { failure, refused } = await sent({ append, end: isMisread ? '' : '\r\n', checker: await source.reader() });
    expect([failure, appends]).toEqual([undefined, tries]);
    expect(refused.map(({ reason }) => reason)).toEqual([undefined, undefined]);
  },
);

test('messages with more keywords than a mailbox has room for are sent without them', async () => {
  const stored: (readonly string[])[] = [];
  const append: typeof storing = (path, given) => {
    const outcomes: Appended[] = [];
    async function* accepted() {
      for await (const message of given) {
        const isRefused = message.flags.some((flag) => flag.startsWith('$'));
        outcomes.push(
          isRefused
            ? { kind: 'refused', reason: 'not accepted', text: 'Too many user flags in mailbox', isOfFlags: true }
            : { kind: 'stored' },
        );
        if (!isRefused) stored.push(message.flags);
        yield message;
      }
    }
    const { sent } = storing(path, accepted());
    return { sent, outcome: sent.then(() => outcomes) };
  };
  expect(await sent({ append, flags: ['\\Seen', '$Label1'] })).toMatchObject({ looked: [1, 2], refused: [] });
  expect(stored).toEqual([['\\Seen'], ['\\Seen']]);
});

/** Stores what has nothing odd, and says of what else it refuses what it refuses it for. */
function refusingBy(reasonOf: (message: NewMessage) => string | null, stored: NewMessage[]): typeof storing {
  return (path, given) => {
    const outcomes: Appended[] = [];
    async function* accepted() {
      for await (const message of given) {
        const text = reasonOf(message);
        outcomes.push(
          text === null
            ? { kind: 'stored' }
            : { kind: 'refused', reason: 'not accepted', text, ...(/keyword/.test(text) ? { isOfFlags: true } : {}) },
        );
        if (text === null) stored.push(message);
        yield message;
      }
    }
    const { sent } = storing(path, accepted());
    return { sent, outcome: sent.then(() => outcomes) };
  };
}

const LONG = `$${'x'.repeat(60)}`;
const isOdd = ({ internalDate }: NewMessage) => internalDate.getTime() === 0;

test('a message with an odd keyword and an odd date is sent without either, and without what is refused only', async () => {
  const given = { flags: ['\\Seen', '$Label1', LONG], hasOddDate: true };
  const stored: NewMessage[] = [];
  const byKeyword = ({ flags }: NewMessage) => (flags.includes(LONG) ? 'Invalid keyword' : null);
  const append = refusingBy((message) => (isOdd(message) ? 'Invalid date' : byKeyword(message)), stored);
  expect(await sent({ ...given, append })).toMatchObject({ looked: [1, 2], refused: [] });
  const other = refusingBy((message) => byKeyword(message) ?? (isOdd(message) ? 'Invalid date' : null), stored);
  expect(await sent({ ...given, append: other })).toMatchObject({ looked: [1, 2], refused: [] });
  expect(await sent({ ...given, append: refusingBy(byKeyword, stored) })).toMatchObject({
    looked: [1, 2],
    refused: [],
  });
  expect(stored.map(({ flags }) => flags)).toEqual(Array.from({ length: 6 }, () => ['\\Seen', '$Label1']));
  expect(stored.map((message) => isOdd(message))).toEqual([false, false, false, false, true, true]);
});

test('a message with an odd keyword beside too many keywords is sent without any', async () => {
  const stored: NewMessage[] = [];
  const append = refusingBy(({ flags }) => {
    if (flags.includes(LONG)) return 'Invalid keyword';
    return flags.some((flag) => flag.startsWith('$')) ? 'Too many keywords' : null;
  }, stored);
  expect(await sent({ append, flags: ['\\Seen', '$Label1', LONG] })).toMatchObject({ looked: [1, 2], refused: [] });
  expect(stored.map(({ flags }) => flags)).toEqual([['\\Seen'], ['\\Seen']]);
});

function hasKeyword({ flags }: NewMessage): boolean {
  return flags.includes(LONG);
}

/** Sends both, without an end, with an odd keyword and date. @returns which of the three they are stored with */
async function storedBy(isRefused: (message: NewMessage, isEnded: boolean) => boolean) {
  const stored: (readonly boolean[])[] = [];
  const append: typeof storing = (_, given) => {
    const outcome = (async () => {
      const all: Appended[] = [];
      for await (const message of given) {
        const isEnded = (await octetsOf(message.octets)).at(-1) === 10;
        const isFine = !isRefused(message, isEnded);
        if (isFine) stored.push([isEnded, message.flags.includes(LONG), isOdd(message)]);
        all.push(isFine ? { kind: 'stored' } : { kind: 'refused', reason: 'not accepted', text: '', isMisread: true });
      }
      return all;
    })();
    return { sent: outcome, outcome };
  };
  expect(await sent({ append, end: '', flags: [LONG], hasOddDate: true })).toMatchObject({ refused: [] });
  expect(stored[1]).toEqual(stored[0]);
  return stored[0];
}

test('a message without an end to its last line, and with an odd keyword or date, is changed in what is refused only', async () => {
  expect(await storedBy((_, isEnded) => !isEnded)).toEqual([true, true, true]);
  expect(await storedBy(hasKeyword)).toEqual([false, false, true]);
  expect(await storedBy((message, isEnded) => hasKeyword(message) || !isEnded)).toEqual([true, false, true]);
  expect(await storedBy((message) => hasKeyword(message) || isOdd(message))).toEqual([false, false, false]);
  expect(await storedBy((message, isEnded) => hasKeyword(message) || isOdd(message) || !isEnded)).toEqual([
    true,
    false,
    false,
  ]);
});

test.each<[string, Destination]>([
  ['is larger than the mailbox takes', { appendLimit: 1 }],
  ['is refused before its octets are asked for', { append: refusing(() => 'too large') }],
])('a message that %s is told by its subject', async (_what, destination) => {
  const refused = ['1', '2'].map((subject) => ({ reason: 'too large', subject }));
  expect(await sent(destination)).toMatchObject({ looked: [], refused });
});
