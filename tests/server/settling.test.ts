import { expect, test } from 'vitest';
import type { LedgerMailbox, NewRow } from '../../src/server/mail/copy/ledger/ledger.ts';
import { digesting } from '../../src/server/mail/copy/message/digest.ts';
import { droppedFlags } from '../../src/server/mail/copy/reading-back/read-back.ts';
import type { Check, Run, Session } from '../../src/server/mail/copy/run/run.ts';
import { type Sending, settleGroup, settleUnseen } from '../../src/server/mail/copy/storing/settling.ts';
import { openFaults } from '../../src/server/mail/copy/troubles/breaks.ts';
import { MailError } from '../../src/server/mail/imap/mail-error.ts';
import type { MailReader } from '../../src/server/mail/imap/streams.ts';
import { memoryAccount } from '../support/memory-mailbox.ts';

const MAILBOX: LedgerMailbox = { id: 1, sourcePath: 'INBOX', sourceUidValidity: 7n, destinationPath: 'INBOX' };

/** What becomes of messages 1 and 2, which never came, in a mailbox that has 1 and this UIDVALIDITY. */
async function fatesUnder(
  uidValidity: bigint,
  changes: Partial<MailReader> = {},
): Promise<readonly (readonly [number, string])[]> {
  const message = { uid: 1, bytes: Buffer.from('Subject: one'), flags: [], internalDate: new Date(0) };
  const { source } = memoryAccount([{ path: 'INBOX', uidValidity, messages: [message] }]);
  const settled: NewRow[] = [];
  const copy = {
    ledger: {
      settle: async (rows: readonly NewRow[]) => {
        settled.push(...rows);
        return [];
      },
    },
    onStep: async () => {},
  };
  await settleUnseen(
    [1, 2].map((uid) => ({ uid, size: 12, date: 0 })),
    {
      mailbox: MAILBOX,
      session: { reader: { ...(await source.reader()), ...changes } } as Session,
      run: {
        ...openFaults(),
        copy,
        settled: () => {},
        gone: new Map(),
        opened: { source: new Set() },
      } as unknown as Run,
    } as Sending,
  );
  return settled.map(({ uid, fate }) => [uid, fate] as const);
}

test('of two messages that never arrived, the source still has one and has lost the other', async () => {
  expect(await fatesUnder(7n)).toEqual([
    [1, 'refused'],
    [2, 'gone'],
  ]);
});

test('where the mailbox has been renumbered, nothing is reported and nothing more is read by UID', async () => {
  await expect(fatesUnder(8n)).rejects.toMatchObject({ fault: 'lost', message: /another UIDVALIDITY/ });
});

async function* letter() {
  yield Buffer.from('Subject: one\r\n\r\n');
}

/**
 * What becomes of messages that a mailbox whose next UID is 10, and in which rows have 11, says it has stored as these
 * UIDs: their rows, and what is to be read back.
 */
async function rowsOfStored(...answers: readonly { readonly uid: number; readonly uidValidity?: bigint }[]) {
  const settled: NewRow[] = [];
  const checks: Check[] = [];
  const ledger = {
    settle: async (rows: readonly NewRow[]) => {
      settled.push(...rows);
      return [];
    },
    claimed: async () => new Set([12]),
  };
  const date = new Date(0);
  const sent = await Promise.all(
    answers.map(async (_, at) => {
      const passed = digesting(letter(), { withMac: false });
      for await (const _chunk of passed.octets);
      const message = { uid: at + 1, size: 16, flags: [], internalDate: date, octets: letter() };
      return { message, flags: ['\\Seen'], date, isGiven: () => true, digest: passed.digest };
    }),
  );
  const stale = new Set<number>();
  const check = (one: Check) => checks.push(one);
  const sending = {
    mailbox: MAILBOX,
    selected: { uidValidity: 3n, uidNext: 10 },
    claims: new Set([11]),
    session: { writer: { traits: { together: true } } },
    run: { copy: { ledger, onStep: async () => {} }, settled: () => {}, check, stale } as unknown as Run,
  } as Sending;
  await settleGroup(
    {
      id: 5,
      mailboxId: 1,
      uidValidity: 3n,
      uidNext: 10,
      messages: answers.map((_, at) => ({ uid: at + 1, size: 16, date: 0 })),
    },
    { sent, tooLarge: [], appended: answers.map((answer) => ({ kind: 'stored', ...answer })) },
    { together: true },
    sending,
  );
  return {
    rows: settled.map(({ fate, destinationUid, flags }) => ({ fate, destinationUid, flags })),
    validities: settled.map(({ destinationUidValidity }) => destinationUidValidity),
    isStale: stale.has(MAILBOX.id),
    checks: checks.flatMap(({ messages }) =>
      messages.map(({ fate, destinationUid, flags }) => ({ fate, destinationUid, flags })),
    ),
  };
}

test('what a server says it has stored as a message that was there before, or is of another row, is never ours to take back', async () => {
  const twin = { fate: 'twin', flags: undefined };
  const before = { ...twin, destinationUid: 9 };
  const ofRow = { ...twin, destinationUid: 11 };
  const ours = { fate: 'stored', destinationUid: 12, flags: ['\\Seen'] };
  const second = { ...twin, destinationUid: 12 };
  // Its flags are those of the other one: they are not set.
  expect(await rowsOfStored({ uid: 9 }, { uid: 11 }, { uid: 12 }, { uid: 12 })).toMatchObject({
    rows: [before, ofRow, ours, second],
    isStale: false,
    checks: [before, ofRow, ours, second],
  });
});

test('what a server says it has stored under another UIDVALIDITY is known by that one, under which it is read back later', async () => {
  const ours = { fate: 'stored', destinationUid: 9, flags: ['\\Seen'] };
  const ofRow = { fate: 'twin', destinationUid: 12, flags: undefined };
  expect(await rowsOfStored({ uid: 9, uidValidity: 4n }, { uid: 12, uidValidity: 4n })).toEqual({
    rows: [ours, ofRow],
    validities: [4n, 4n],
    isStale: true,
    checks: [],
  });
});

test('a flag that several messages lack and none has kept was dropped by the server, any other was taken away', () => {
  const [first, second] = [
    { path: 'INBOX', uid: 1, flags: ['\\Seen', '$Label1', '\\Flagged'] },
    { path: 'INBOX', uid: 2, flags: ['\\SEEN', '$label1'] },
  ];
  expect(droppedFlags([first, second], new Map([['INBOX', new Set(['\\seen'])]]))).toEqual([
    { path: 'INBOX', uid: 1, flags: ['$Label1'] },
    { path: 'INBOX', uid: 2, flags: ['$label1'] },
  ]);
  expect(droppedFlags([first], new Map())).toEqual([]);
  // Read twice, after a fault.
  expect(droppedFlags([first, first], new Map())).toEqual([]);
});

const refusedLook: MailReader['look'] = async function* () {
  yield* [];
  throw new MailError('refused', 'BAD UID FETCH Failed to parse message set');
};

test('where the source does not say whether it is there, that mailbox is reported as unreadable, and the new one is not blamed', async () => {
  await expect(fatesUnder(7n, { look: refusedLook })).rejects.toMatchObject({
    name: 'FolderLeft',
    reason: 'mailbox unreadable',
  });
});
