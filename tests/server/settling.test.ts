import { expect, test } from 'vitest';
import type { LedgerMailbox, NewRow } from '../../src/server/mail/copy/ledger/ledger.ts';
import { digesting } from '../../src/server/mail/copy/message/digest.ts';
import { droppedFlags } from '../../src/server/mail/copy/reading-back/read-back.ts';
import type { Run, Session } from '../../src/server/mail/copy/run/run.ts';
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

/** The row of a message that a mailbox whose next UID is 10, and in which rows have 11, says it has stored as this UID. */
async function rowOfStored(uid: number) {
  const settled: NewRow[] = [];
  const ledger = {
    settle: async (rows: readonly NewRow[]) => {
      settled.push(...rows);
      return [];
    },
  };
  const date = new Date(0);
  const passed = digesting(letter(), { withMac: false });
  for await (const _ of passed.octets);
  const message = { uid: 1, size: 16, flags: [], internalDate: date, octets: letter() };
  const sending = {
    mailbox: MAILBOX,
    selected: { uidValidity: 3n, uidNext: 10 },
    claims: new Set([11]),
    session: { writer: { traits: { together: true } } },
    run: { copy: { ledger, onStep: async () => {} }, settled: () => {}, check: () => {} } as unknown as Run,
  } as Sending;
  await settleGroup(
    { id: 5, mailboxId: 1, uidValidity: 3n, uidNext: 10, messages: [{ uid: 1, size: 16, date: 0 }] },
    [{ message, flags: ['\\Seen'], date, isGiven: () => true, digest: passed.digest }],
    [],
    [{ kind: 'stored', uid }],
    { together: true, ended: false },
    sending,
  );
  const [{ fate, destinationUid, flags } = {}] = settled;
  return { fate, destinationUid, flags };
}

test('what a server says it has stored as a message that was there before, or is of another row, is never ours to take back', async () => {
  expect(await rowOfStored(9)).toEqual({ fate: 'twin', destinationUid: 9, flags: undefined });
  expect(await rowOfStored(11)).toEqual({ fate: 'twin', destinationUid: 11, flags: undefined });
  expect(await rowOfStored(12)).toEqual({ fate: 'stored', destinationUid: 12, flags: ['\\Seen'] });
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
