import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { MACHINE_CLOCK } from '../../src/server/clock.ts';
import type { Group, LedgerMailbox, NewRow, Planned, Row } from '../../src/server/mail/copy/ledger/ledger.ts';
import { perhapsPresent, settlePresent } from '../../src/server/mail/copy/recovery/present.ts';
import { settleAbandoned, settleOpen, settleUnsaid } from '../../src/server/mail/copy/recovery/recovery.ts';
import type { Run, Session } from '../../src/server/mail/copy/run/run.ts';
import type { Sending, Unsaid } from '../../src/server/mail/copy/storing/settling.ts';
import { openFaults } from '../../src/server/mail/copy/troubles/breaks.ts';
import { MailError } from '../../src/server/mail/imap/mail-error.ts';
import { memoryAccount } from '../support/memory-mailbox.ts';

const MAILBOX: LedgerMailbox = { id: 1, sourcePath: 'Lists', sourceUidValidity: 1n, destinationPath: 'Lists' };
const DATE = 1_000_000_000;
const TEXT = 'Message-ID: <1>\r\nSubject: one\r\n\r\nBody\r\n';

type There = { readonly uid: number; readonly text?: string; readonly date?: number };

function mailOf({ uid, text = TEXT, date = DATE }: There) {
  return { uid, bytes: Buffer.from(text), flags: [], internalDate: new Date(date * 1000) };
}

type Given = {
  readonly groups?: readonly Group[];
  readonly claims?: readonly number[];
  /** Other mailboxes that are known. */
  readonly known?: readonly LedgerMailbox[];
  readonly disowned?: readonly number[];
  /** Of the mailbox in the ledger. */
  readonly rows?: readonly Partial<Row>[];
  /** By UID, what the destination lists and does not hand out. */
  readonly withheld?: readonly number[];
  /** What the destination says in place of opening the mailbox. */
  readonly refusal?: MailError;
};

/** A mailbox of both sides, and what the ledger is told of it. */
async function mailboxWith(sent: readonly There[], there: readonly There[], given: Given = {}) {
  const { groups = [], claims = [], known = [], disowned = [], rows: before = [], withheld = [], refusal } = given;
  const source = memoryAccount([{ path: 'Lists', messages: sent.map(mailOf) }]);
  const reader = await source.source.reader();
  const checker = await memoryAccount([{ path: 'Lists', uidValidity: 3n, messages: there.map(mailOf) }], {
    withheld: (_, uid) => withheld.includes(uid),
  }).source.reader();
  const rows: NewRow[] = [];
  const closed: number[] = [];
  const counted: number[] = [];
  const open = async (path: string) => {
    if (refusal !== undefined) throw refusal;
    return checker.open(path);
  };
  const count = (_: string, settled: readonly NewRow[]) => counted.push(...settled.map(({ uid }) => uid));
  const run = {
    ...openFaults(),
    looked: () => {},
    askAgain: () => {},
    planAgain: () => {},
    settled: count,
    settledFound: count,
    opened: { source: new Set(), destination: new Set() },
    destinationPaths: () => [],
    sourcePaths: () => [],
    searches: new Map(),
    known: new Map(),
    said: new Map(),
    budget: { correct: () => {} },
    copy: {
      clock: MACHINE_CLOCK,
      signal: new AbortController().signal,
      onStep: async () => {},
      ledger: {
        async *rows() {
          if (before.length > 0) yield before;
        },
        mailboxes: async () => [MAILBOX, ...known],
        groups: async () => groups,
        claimed: async () => new Set(claims),
        settle: async (settled: readonly NewRow[], ended: readonly number[] = []) => {
          rows.push(...settled);
          closed.push(...ended);
          return settled.filter(({ uid }) => disowned.includes(uid));
        },
      },
    },
  } as unknown as Run;
  const checking = { ...checker, open, ...(refusal === undefined ? {} : { status: open }) };
  const session = { reader, checker: checking } as unknown as Session;
  const told = () => rows.map(({ uid, destinationUid, fate }) => [uid, destinationUid, fate]);
  return { run, session, closed, counted, told };
}

function refusedBy(responseCode: string): MailError {
  return new MailError('refused', 'No.', { responseCode });
}

/** An intent without messages of its own. */
function groupAt(uidNext: number, mailboxId = 2): Group {
  return { id: 5, mailboxId, messages: [], uidValidity: 3n, uidNext };
}

function plannedAs({ uid, text = TEXT, date = DATE }: There): Planned {
  return { uid, size: text.length, date };
}

test.each<[string, readonly Partial<Row>[], number | undefined]>([
  ['is somebody else’s where a message read back has kept its date', [{ fate: 'stored', date: DATE }], undefined],
  ['or has, in another form', [{ fate: 'kept', date: DATE }], undefined],
  ['is what was on its way where none was read back', [{ fate: 'stored', date: DATE, verified: false }], 11],
  ['or the one that was has another date', [{ fate: 'changed', date: DATE }], 11],
  ['or no date that all servers keep', [{ fate: 'kept', date: 0 }], 11],
])('what has come since, as large, with another date, and is not handed out, %s', async (_, read, uid) => {
  const sent = { uid: 1 };
  const rows = read.map((row) => ({ verified: true, ...row }));
  const given = { withheld: [11], rows };
  const { run, session, told } = await mailboxWith([sent], [{ uid: 11, date: DATE + 60 }], given);
  const wanted = [plannedAs(sent)];
  const group = { ...groupAt(10, MAILBOX.id), messages: wanted };
  await settleOpen({ groups: [group], wanted, mailbox: MAILBOX, claims: new Set() }, session, run);
  expect(told()).toEqual(uid === undefined ? [] : [[1, uid, 'stored']]);
});

describe('what was stored without its UID', () => {
  const settled = async (sent: readonly (Partial<Unsaid> & { readonly text?: string })[], there: readonly There[]) => {
    const texts = sent.map(({ text = TEXT }, at) => ({ uid: at + 1, text }));
    const { run, session, told, closed } = await mailboxWith(texts, there);
    const selected = { uidValidity: 3n };
    const looking = { mailbox: MAILBOX, selected, from: 10, claims: new Set<number>(), session, run };
    const unsaid = sent.map(({ text = TEXT, ...message }, at): Unsaid => {
      const sha256 = createHash('sha256').update(text).digest('hex');
      return { uid: at + 1, size: text.length, sha256, date: DATE, ...message };
    });
    await settleUnsaid(unsaid, [5], looking as unknown as Parameters<typeof settleUnsaid>[2]);
    expect(closed).toEqual([5]);
    return told();
  };
  const [first, second, third] = [1, 2, 3].map((id) => ({ text: TEXT.replace('<1>', `<${id}>`) }));
  const other = `X-Provider: yes\r\n${TEXT}`;

  test.each<[string, Partial<Unsaid>, There, string]>([
    ['is stored as it was sent', {}, { uid: 11 }, 'stored'],
    ['is kept in a form of the provider’s own', {}, { uid: 11, text: other }, 'kept'],
    ['is kept where it was sent with another date than the source’s', { isRedated: true }, { uid: 11 }, 'kept'],
    ['is changed where its date is another one', {}, { uid: 11, date: DATE + 1 }, 'changed'],
    ['is kept where that is one that servers replace', { date: 0 }, { uid: 11 }, 'kept'],
  ])('%s', async (_, message, there, fate) => {
    expect(await settled([message], [there])).toEqual([[1, 11, fate]]);
  });

  test('is not what was there before', async () => {
    expect(await settled([{}], [{ uid: 9 }])).toEqual([[1, undefined, 'lost']]);
  });

  test('and is not there any more, has the UID that is missing in its place', async () => {
    expect(
      await settled(
        [first, second, third].map((one) => ({ ...one })),
        [
          { uid: 10, ...first },
          { uid: 11, text: 'Subject: of its owner' },
          { uid: 13, ...third },
        ],
      ),
    ).toEqual([
      [1, 10, 'stored'],
      [2, 12, 'stored'],
      [3, 13, 'stored'],
    ]);
  });

  test('and is not there, is lost where no UID is missing in its place, or a twin of an equal one', async () => {
    const there = [
      { uid: 10, ...first },
      { uid: 11, ...third },
    ];
    expect(await settled([{ ...first }, { ...second }, { ...third }], there)).toEqual([
      [1, 10, 'stored'],
      [2, undefined, 'lost'],
      [3, 11, 'stored'],
    ]);
    expect(await settled([{}, {}], [{ uid: 11 }])).toEqual([
      [1, 11, 'stored'],
      [2, undefined, 'twin'],
    ]);
  });
});

describe('what was on its way into a mailbox, and has no other way any more', () => {
  const group = { id: 5, mailboxId: 1, messages: [plannedAs({ uid: 1 })], uidValidity: 3n, uidNext: 10 };
  const settled = async (there: readonly There[], given: Given = {}) => {
    const { run, session, closed, told } = await mailboxWith([], there, given);
    await settleAbandoned(MAILBOX, [group], session, run);
    return { closed, told: told() };
  };

  test('is found by its date and size, or gone', async () => {
    expect(await settled([{ uid: 11 }])).toEqual({ closed: [5], told: [[1, 11, 'stored']] });
    expect(await settled([{ uid: 11, date: 5 }])).toEqual({ closed: [5], told: [[1, undefined, 'gone']] });
    expect(await settled([{ uid: 9 }])).toEqual({ closed: [5], told: [[1, undefined, 'gone']] });
  });

  test('is gone with that mailbox, and goes on waiting where that can’t be opened', async () => {
    expect(await settled([], { refusal: refusedBy('NONEXISTENT') })).toEqual({ closed: [5], told: [] });
    expect(await settled([], { refusal: refusedBy('NOPERM') })).toEqual({ closed: [], told: [] });
  });
});

describe('what the destination has already', () => {
  const settled = async (sent: readonly There[], there: readonly There[], given: Given = {}) => {
    const { run, session, told, counted } = await mailboxWith(sent, there, given);
    const selected = { uidValidity: 3n, exists: there.length };
    const into = { mailbox: MAILBOX, selected, session, run, claims: new Set<number>(), goesOn: () => true };
    const parts = await perhapsPresent(sent.map(plannedAs), 1, into as unknown as Sending);
    const rows = await settlePresent(parts, into as unknown as Sending);
    return { told: told(), counted, settled: rows.map(({ uid }) => uid) };
  };
  const NONE = { told: [], counted: [], settled: [] };
  const one = [{ uid: 1 }];

  test('is not stored again, once each', async () => {
    expect(await settled([{ uid: 1 }, { uid: 2 }], [{ uid: 11 }])).toEqual({
      told: [[1, 11, 'stored']],
      counted: [1],
      settled: [1],
    });
  });

  test.each<[string, readonly There[], Given]>([
    ['has another date', [{ uid: 11, date: DATE + 1 }], {}],
    ['has another body', [{ uid: 11, text: TEXT.replace('Body', 'Ydob') }], {}],
    ['belongs to a row', [{ uid: 11 }], { claims: [11] }],
  ])('is not what %s', async (_, there, given) => {
    expect(await settled(one, there, given)).toEqual(NONE);
  });

  test('is not what has the date of another message', async () => {
    const text = TEXT.replace('<1>', '<2>');
    const sent = [{ uid: 1 }, { uid: 2, text, date: DATE + 1 }];
    expect(
      await settled(sent, [
        { uid: 11, date: DATE + 1 },
        { uid: 12, text },
      ]),
    ).toEqual(NONE);
  });

  test('is kept with another date where servers replace its own', async () => {
    expect(await settled([{ uid: 1, date: 0 }], [{ uid: 11 }])).toMatchObject({ told: [[1, 11, 'kept']] });
  });

  test('is not what another folder of the source is just being copied as', async () => {
    const known = [{ ...MAILBOX, id: 2, sourcePath: 'Other' }];
    const there = [{ uid: 11 }];
    expect(await settled(one, there, { known, groups: [groupAt(11)] })).toEqual(NONE);
    expect(await settled(one, there, { known, groups: [groupAt(12), groupAt(5, 3)] })).toMatchObject({ settled: [1] });
    const elsewhere = known.map((mailbox) => ({ ...mailbox, destinationPath: 'Other' }));
    expect(await settled(one, there, { known: elsewhere, groups: [groupAt(11)] })).toMatchObject({ settled: [1] });
  });

  test('is stored where it has been disowned', async () => {
    expect(await settled(one, [{ uid: 11 }], { disowned: [1] })).toMatchObject({ counted: [], settled: [] });
  });
});
