import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { NewRow } from '../../src/server/mail/copy/ledger/ledger.ts';
import { readBack, type Findings } from '../../src/server/mail/copy/reading-back/read-back.ts';
import type { CheckSession, Run, Unchecked } from '../../src/server/mail/copy/run/run.ts';
import { openFaults } from '../../src/server/mail/copy/troubles/breaks.ts';
import { MailError } from '../../src/server/mail/imap/mail-error.ts';
import { memoryAccount } from '../support/memory-mailbox.ts';

const MAILBOX = { id: 1, sourcePath: 'Sent', sourceUidValidity: 1n, destinationPath: 'Sent' };
const LOST = new MailError('lost', 'The line broke.');
const textOf = (uid: number) => Buffer.from(`Subject: ${uid}\r\n\r\n`);
const messageOf = (uid: number, bytes: Buffer) => ({ uid, bytes, flags: [], internalDate: new Date(0) });

type There = {
  readonly uidValidity?: bigint;
  readonly isClosed?: boolean;
  /** Where the line breaks once. */
  readonly breaksAt?: number;
  /** The destination has another text of the second one. */
  readonly isChanged?: boolean;
  readonly sourceUidValidity?: bigint;
  /** UIDVALIDITYs of the source under which the mailbox is known in this run. */
  readonly known?: readonly bigint[];
  /** The second message as the source has it by now. */
  readonly second?: 'given' | 'withheld' | 'deleted';
};

/** Reads back three messages, whose UIDs were 11 to 13 at the destination: again when the line broke. */
async function foundOf({ uidValidity = 7n, isClosed = false, breaksAt, isChanged = false, ...there }: There) {
  const { sourceUidValidity = 1n, known = [1n], second = 'given' } = there;
  const messages = [1, 2, 3].map((uid) => messageOf(10 + uid, textOf(isChanged && uid === 2 ? 22 : uid)));
  const sent = [1, 2, 3].filter((uid) => second !== 'deleted' || uid !== 2).map((uid) => messageOf(uid, textOf(uid)));
  const legacy = memoryAccount([{ path: 'Sent', uidValidity: sourceUidValidity, messages: sent }], {
    withheld: (_, uid) => uid === 2 && second === 'withheld',
  });
  let breaks = breaksAt === undefined ? 0 : 1;
  const { source, fetched } = memoryAccount([{ path: 'Sent', uidValidity, messages }], {
    closed: () => isClosed,
    onFetch: (_, uid) => {
      if (uid === breaksAt && breaks-- > 0) throw LOST;
    },
  });
  const checker = await source.reader();
  const check = {
    mailbox: MAILBOX,
    uidValidity: 7n,
    messages: [1, 2, 3].map((uid): Unchecked => {
      const sha256 = createHash('sha256').update(textOf(uid)).digest('hex');
      return { uid, destinationUid: 10 + uid, size: textOf(uid).length, sha256, date: 0, fate: 'stored' };
    }),
  };
  const findings: Findings = {
    flags: [],
    kept: new Map(),
    absent: [],
    late: new Set(),
    read: new WeakSet(),
    unread: new Map(),
  };
  const [verified, settled]: [number[], NewRow[]] = [[], []];
  let progress = 0;
  const run = {
    ...openFaults(),
    stale: new Set<number>(),
    known: new Map([['Sent', known.map((each) => ({ ...MAILBOX, sourceUidValidity: each }))]]),
    refated: () => {},
    opened: { source: new Set(), destination: new Set() },
    sourcePaths: () => ['Sent'],
    destinationPaths: () => ['Sent'],
    looked: () => {
      progress += 1;
    },
    copy: {
      ledger: {
        verified: async (_: number, read: readonly Unchecked[]) => void verified.push(...read.map(({ uid }) => uid)),
        settle: async (rows: readonly NewRow[]) => void settled.push(...rows),
      },
      signal: new AbortController().signal,
      onStep: async () => {},
    },
  } as unknown as Run;
  const session = { checker, reader: () => legacy.source.reader() } as unknown as CheckSession;
  const failure = await readBack(check, session, run, findings).catch((error: unknown) => error);
  const first = { verified: [...verified], progress };
  if (failure === LOST) await readBack(check, session, run, findings);
  const absent = findings.absent.map(({ message }) => message.uid);
  const fates = settled.map(({ uid, fate }) => [uid, fate]);
  return { failure, first, verified, fates, absent, isStale: run.stale.has(MAILBOX.id), fetched };
}

test('what was read back before the line broke is noted, counts as progress, and is not read again', async () => {
  const { failure, first, verified, fetched } = await foundOf({ breaksAt: 12 });
  expect({ failure, first, verified }).toEqual({
    failure: LOST,
    first: { verified: [1], progress: 1 },
    verified: [1, 2, 3],
  });
  expect(fetched.filter((name) => name === 'Sent/11')).toHaveLength(1);
});

test('under another UIDVALIDITY nothing is compared, and the messages are to be found anew', async () => {
  expect(await foundOf({ uidValidity: 8n })).toMatchObject({
    failure: undefined,
    verified: [],
    fates: [],
    absent: [],
    isStale: true,
  });
});

test('what was in a mailbox that can’t be opened any more is looked for elsewhere', async () => {
  expect(await foundOf({ isClosed: true })).toMatchObject({
    failure: undefined,
    verified: [],
    fates: [],
    absent: [1, 2, 3],
    isStale: false,
  });
});

test.each<[string, There, object]>([
  ['is changed, where the source still has it', {}, { fates: [[2, 'changed']] }],
  ['is changed, where the source has lost it', { second: 'deleted' }, { fates: [[2, 'changed']] }],
  ['waits, where the source does not hand it out for now', { second: 'withheld' }, { fates: [] }],
  [
    'waits, where UIDs of the source mean other messages by now',
    { sourceUidValidity: 2n },
    { failure: { account: 'source', message: 'The mailbox has another UIDVALIDITY than before.' }, fates: [] },
  ],
  ['has its row elsewhere, where that is known already', { sourceUidValidity: 2n, known: [1n, 2n] }, { fates: [] }],
])('a message with other octets %s', async (_, there, expected) => {
  expect(await foundOf({ isChanged: true, ...there })).toMatchObject({
    failure: undefined,
    verified: [1, 3],
    ...expected,
  });
});
