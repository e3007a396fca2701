import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { MACHINE_CLOCK } from '../../src/server/clock.ts';
import { isMissing } from '../../src/server/mail/copy/mailboxes/missing.ts';
import { findMoved, findRenamed } from '../../src/server/mail/copy/mailboxes/moved.ts';
import { sourcePlace } from '../../src/server/mail/copy/troubles/breaks.ts';
import { MailError } from '../../src/server/mail/imap/mail-error.ts';
import type { MailReader } from '../../src/server/mail/imap/streams.ts';
import { memoryAccount } from '../support/memory-mailbox.ts';
import { runOfTwoMailboxes } from '../support/run-of-two-mailboxes.ts';

const DATE = 1_000_000_000;
const TEXT = 'Message-ID: <1>\r\nSubject: one\r\n\r\nBody\r\n';
const FROM = { id: 1, destinationPath: 'Lists', sourcePath: 'Lists', sourceUidValidity: 1n };
const no = (responseCode?: string) => {
  return new MailError('refused', 'No.', responseCode === undefined ? { cause: new Error('NO') } : { responseCode });
};

async function answer(error: MailError | null) {
  if (error !== null) throw error;
  return { uidValidity: 1n, exists: 0 };
}

/** Asks whether it is missing; `null` for a question that is answered. */
function asking(path: string, opening: MailError | null, status: MailError | null, listed: readonly string[] = []) {
  const reader: Pick<MailReader, 'open' | 'status'> = { open: () => answer(opening), status: () => answer(status) };
  return isMissing(reader as MailReader, path, listed);
}

describe('a mailbox that can’t be opened', () => {
  test.each<[string, Parameters<typeof asking>, boolean]>([
    ['is missing where the server says so', ['Lists', no('NONEXISTENT'), no(), ['Lists']], true],
    ['is missing where one could make it', ['Lists', no('TRYCREATE'), no(), ['Lists']], true],
    ['is there where the server says so, and how many it has', ['Lists', no('NONEXISTENT'), null, ['Lists']], false],
    ['is missing where it is neither listed nor has a state', ['Lists', no(), no(), ['Other']], true],
    ['is there where it is listed', ['Lists', no(), no(), ['Other', 'Lists']], false],
    ['is there where it is listed in other letters', ['Lists', no(), no(), ['LISTS']], false],
    ['is there where it has a state', ['Lists', no(), null], false],
    ['is there where nobody may open it', ['Lists', no('NOPERM'), no()], false],
    ['is there where it is the inbox', ['INBOX', no(), no()], false],
    ['is there where it opens after all', ['Lists', null, no()], false],
  ])('%s', async (_, given, expected) => {
    expect(await asking(...given)).toBe(expected);
  });

  test('may be there where the connection ends', async () => {
    const lost = new MailError('lost', 'The connection ended.');
    await expect(asking('Lists', lost, no())).rejects.toBe(lost);
    await expect(asking('Lists', no(), lost)).rejects.toBe(lost);
  });
});

type There = { readonly uid?: number; readonly text?: string; readonly date?: number };

/** What one other mailbox has, and how its server is. */
type Other = {
  readonly there?: readonly There[];
  readonly uidValidity?: bigint;
  readonly claims?: readonly number[];
  readonly trouble?: MailError;
  readonly mayWait?: boolean;
};

const clock = { now: 0 };

async function otherMailbox({ there = [{}], uidValidity = 5n, claims = [], trouble, mayWait = true }: Other) {
  const messages = there.map(({ uid = 7, text = TEXT, date = DATE }) => {
    return { uid, bytes: Buffer.from(text), flags: [], internalDate: new Date(date * 1000) };
  });
  const checker = await memoryAccount([
    { path: 'Lists', messages: [] },
    { path: 'Other', uidValidity, messages },
  ]).source.reader();
  const open = async (path: string) => {
    if (trouble !== undefined && path === 'Other') throw trouble;
    return checker.open(path);
  };
  const run = runOfTwoMailboxes(FROM, {
    clock: { ...MACHINE_CLOCK, elapsed: () => clock.now },
    refusalWaits: mayWait ? 0 : 99,
    ledger: { claimed: async () => new Set(claims) },
  });
  // STATUS is refused where it can't be opened.
  const reading = { ...checker, open, ...(trouble === undefined ? {} : { status: open }) };
  return { checker: reading, run, messages };
}

const sha256 = createHash('sha256').update(TEXT).digest('hex');
/** Stored as 7 in a mailbox with UIDVALIDITY 3, and missing there. */
const MISSING = { uid: 1, size: TEXT.length, date: DATE, sha256, destinationUid: 7, destinationUidValidity: 3n };

describe('a message that is missing', () => {
  const lookFor = async (fate: 'stored' | 'twin', other: Other) => {
    const { checker, run } = await otherMailbox(other);
    const { moved, isSure } = await findMoved([{ ...MISSING, fate }], FROM, ['Lists', 'Other'], null, checker, run);
    return { moved: [...moved], isSure };
  };
  const renamed = 3n;

  test.each<[string, Other, readonly number[]]>([
    ['is where it has been moved to', {}, [1]],
    ['is not what a row has', { claims: [7] }, []],
    ['is not what has another size', { there: [{ text: 'x' }] }, []],
    [
      'is where its mailbox has another name, by its UID and date',
      { uidValidity: renamed, there: [{ text: 'x' }] },
      [1],
    ],
    ['or its UID and size', { uidValidity: renamed, there: [{ text: TEXT.replace('Body', 'Ydob'), date: 1 }] }, [1]],
    ['but not by its UID alone', { uidValidity: renamed, there: [{ text: 'x', date: 1 }] }, []],
    ['nor by another UID', { uidValidity: renamed, there: [{ uid: 8, text: 'x' }] }, []],
    ['is not in a mailbox that is not there any more', { trouble: no('NONEXISTENT') }, []],
  ])('%s', async (_, other, moved) => {
    expect(await lookFor('stored', other)).toEqual({ moved, isSure: true });
  });

  test('may be in a mailbox of another name which the server says is not there, and of which it tells the state', async () => {
    const error = no('NONEXISTENT');
    const { checker, run } = await otherMailbox({ uidValidity: renamed });
    const open = async (path: string) => {
      if (path === 'Other') throw error;
      return checker.open(path);
    };
    const look = findMoved([{ ...MISSING, fate: 'stored' }], FROM, ['Lists'], null, { ...checker, open }, run);
    await expect(look).rejects.toBe(error);
  });

  test('is not what has only its Message-ID and date where it is a twin', async () => {
    const { source: account } = memoryAccount([
      {
        path: 'Lists',
        messages: [{ uid: 1, bytes: Buffer.from(TEXT), flags: [], internalDate: new Date(DATE * 1000) }],
      },
    ]);
    const source = sourcePlace(await account.reader(), 'Lists', 1n);
    const other = { there: [{ text: TEXT.replace('Body', 'Another body') }] };
    for (const fate of ['stored', 'twin'] as const) {
      const { checker, run } = await otherMailbox(other);
      const { moved } = await findMoved([{ ...MISSING, fate }], FROM, ['Lists', 'Other'], source, checker, run);
      expect([...moved]).toEqual(fate === 'twin' ? [] : [1]);
    }
  });

  test('is looked for anew in what was looked through ten minutes ago', async () => {
    const { checker, run, messages } = await otherMailbox({ there: [] });
    const look = async () => {
      const { moved } = await findMoved([{ ...MISSING, fate: 'stored' }], FROM, ['Lists', 'Other'], null, checker, run);
      return [...moved];
    };
    expect(await look()).toEqual([]);
    messages.push({ uid: 7, bytes: Buffer.from(TEXT), flags: [], internalDate: new Date(DATE * 1000) });
    clock.now += 599_999;
    expect(await look()).toEqual([]);
    clock.now += 1;
    expect(await look()).toEqual([1]);
  });

  test('may be in a mailbox that its server fails at', async () => {
    const trouble = new MailError('busy', 'It is in trouble.', { responseCode: 'SERVERBUG' });
    const { checker, run } = await otherMailbox({ trouble });
    const look = () => findMoved([{ ...MISSING, fate: 'stored' }], FROM, ['Lists', 'Other'], null, checker, run);
    const answers: unknown[] = [];
    for (let times = 1; times <= 5; times += 1) answers.push(await look().catch((error: unknown) => error));
    expect(answers.at(-1)).toMatchObject({ isSure: false, moved: new Set() });
    expect(await lookFor('stored', { trouble: no() })).toMatchObject({ isSure: false });
  });
});

describe('a message that was on its way when its mailbox got another name', () => {
  const before = [{ uidValidity: 5n, uidNext: 7 }];
  const lookFor = async (other: Other) => {
    const { checker, run } = await otherMailbox(other);
    return findRenamed([MISSING], before, FROM, null, checker, run);
  };

  test.each<[string, Other, number]>([
    ['is found under that', {}, 1],
    ['is not found under the name of another one', { uidValidity: 6n }, 0],
    ['is not what was there before', { there: [{ uid: 6 }] }, 0],
    ['is not what a row has', { claims: [7] }, 0],
  ])('%s', async (_, other, count) => {
    const found = await lookFor(other);
    expect([...found]).toMatchObject(
      count === 0 ? [] : [[1, { destinationUid: 7, destinationUidValidity: 5n, verified: true, sha256 }]],
    );
    expect(found.size).toBe(count);
  });

  const failing = async (mayWait: boolean) => {
    const trouble = new MailError('busy', 'It is in trouble.', { responseCode: 'SERVERBUG' });
    const { checker, run } = await otherMailbox({ trouble, mayWait });
    const look = () => findRenamed([MISSING], before, FROM, null, checker, run);
    for (let times = 1; times < 3; times += 1) await expect(look()).rejects.toBe(trouble);
    return look();
  };

  test('may be in a mailbox that its server fails at, for as long as that is waited for', async () => {
    await expect(failing(true)).rejects.toMatchObject({ reason: 'mailbox closed' });
    expect(await failing(false)).toEqual(new Map());
  });
});
