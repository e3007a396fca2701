import { createHash } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { MACHINE_CLOCK } from '../../src/server/clock.ts';
import type { LedgerMailbox } from '../../src/server/mail/copy/ledger/ledger.ts';
import { followRenames } from '../../src/server/mail/copy/mailboxes/renames.ts';
import type { Run } from '../../src/server/mail/copy/run/run.ts';
import { openFaults } from '../../src/server/mail/copy/troubles/breaks.ts';
import { MailError } from '../../src/server/mail/imap/mail-error.ts';
import type { MailReader } from '../../src/server/mail/imap/streams.ts';
import { memoryAccount, type MemoryMessage } from '../support/memory-mailbox.ts';

const BEFORE: LedgerMailbox = { id: 1, sourcePath: 'Before', sourceUidValidity: 7n, destinationPath: 'Before' };

function letters(words: string): MemoryMessage[] {
  return [1, 2, 3].map((uid) => ({
    uid,
    bytes: Buffer.from(`${words} ${uid}`),
    flags: [],
    internalDate: new Date(86_400_000 * uid),
  }));
}

/** Looks for the mailbox `Before`, which had these letters, among others of its UIDVALIDITY. */
async function followed(
  had: readonly MemoryMessage[],
  others: Readonly<Record<string, MemoryMessage[]>>,
  { closed, rounds = false, underWay = false }: Partial<{ closed: string; rounds: boolean; underWay: boolean }> = {},
) {
  const { source } = memoryAccount(
    Object.entries(others).map(([path, messages]) => ({ path, uidValidity: 7n, messages })),
  );
  const reader = await source.reader();
  const readToTheEnd: string[] = [];
  const inPages: typeof reader = {
    ...reader,
    open: async (path) => {
      if (path === closed) throw new MailError('refused', 'It lets nobody in.');
      return reader.open(path);
    },
    async *list(path) {
      for await (const page of reader.list(path))
        for (const listed of page) yield [{ ...listed, size: rounds ? 1024 : listed.size }];
      readToTheEnd.push(path);
    },
  };
  const known = new Map([['Before', [BEFORE]]]);
  const rows = had.map(({ uid, bytes, internalDate }) => ({
    uid,
    size: bytes.length,
    date: internalDate.getTime() / 1000,
    fate: 'stored' as const,
    ...(underWay ? {} : { sha256: createHash('sha256').update(bytes).digest('hex') }),
  }));
  const renamed: string[] = [];
  const ledger = {
    async *rows() {
      yield underWay ? [] : rows;
    },
    groups: async () => (underWay ? [{ id: 1, mailboxId: BEFORE.id, messages: rows }] : []),
    rename: async (_ids: readonly number[], path: string) => {
      renamed.push(path);
    },
  };
  const run = {
    known,
    copy: { ledger, clock: MACHINE_CLOCK },
    unsure: new Map(),
    ...openFaults(),
    looked: () => {},
    opened: { source: new Set(), destination: new Set() },
    sourcePaths: () => Object.keys(others),
  } as unknown as Run;
  await followRenames({ current: new Set(Object.keys(others)), validities: new Map() }, inPages, run);
  return { renamed, readToTheEnd, known: [...known.keys()] };
}

test('a renamed mailbox is recognized by its messages', async () => {
  const had = letters('letter');
  const others = { 'Another one': letters('something'), After: letters('letter') };
  expect(await followed(had, others)).toEqual({
    renamed: ['After'],
    // Of the one that is not it, too: the connection is used for the next one.
    readToTheEnd: ['Another one', 'After'],
    known: ['After'],
  });
});

test('one with other messages is not mistaken for it, even if their sizes and dates are the same', async () => {
  expect(await followed(letters('letter'), { After: letters('litter') })).toMatchObject({
    renamed: [],
    known: ['Before'],
  });
});

test('one that can’t be opened keeps none of the others from being recognized', async () => {
  const others = { 'Closed one': letters('letter'), After: letters('letter') };
  expect(await followed(letters('letter'), others, { closed: 'Closed one' })).toMatchObject({ renamed: ['After'] });
});

test('the sizes that a server lists say nothing: some round them', async () => {
  expect(await followed(letters('letter'), { After: letters('letter') }, { rounds: true })).toMatchObject({
    renamed: ['After'],
  });
});

test('what was in progress when a worker died has no digest yet, and is recognized by its dates', async () => {
  const had = letters('letter');
  const later = had.map((message) => ({ ...message, internalDate: new Date(86_400_000 * (message.uid + 5)) }));
  expect(await followed(had, { After: had }, { underWay: true })).toMatchObject({ renamed: ['After'] });
  expect(await followed(had, { After: later }, { underWay: true })).toMatchObject({ renamed: [] });
  expect(await followed(had, { After: [] }, { underWay: true })).toMatchObject({ renamed: [] });
});

test('thousands of folders that have come in the place of as many others are not held against each other', async () => {
  const COUNT = 3000;
  const numbers = Array.from({ length: COUNT }, (_, at) => BigInt(at + 1));
  const known = new Map(
    numbers.map((id): [string, LedgerMailbox[]] => [
      `Before ${id}`,
      [{ ...BEFORE, id: Number(id), sourcePath: `Before ${id}`, sourceUidValidity: id }],
    ]),
  );
  const validities = new Map(numbers.map((id) => [`After ${id}`, id + BigInt(COUNT)]));
  const names = { current: new Set(validities.keys()), validities };
  using asked = vi.spyOn(known, 'values');
  const run = { known, unsure: new Map(), copy: { ledger: {} } } as unknown as Run;
  expect(await followRenames(names, {} as MailReader, run)).toEqual([]);
  expect(asked.mock.calls.length).toBeLessThan(5);
});
