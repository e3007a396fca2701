import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { MACHINE_CLOCK } from '../../src/server/clock.ts';
import type { LedgerMailbox, NewRow } from '../../src/server/mail/copy/ledger/ledger.ts';
import type { Run, Session } from '../../src/server/mail/copy/run/run.ts';
import { type Refused, settleRefused } from '../../src/server/mail/copy/storing/refused.ts';
import { openFaults } from '../../src/server/mail/copy/troubles/breaks.ts';
import { memoryAccount } from '../support/memory-mailbox.ts';

const MAILBOX: LedgerMailbox = { id: 1, sourcePath: 'INBOX', sourceUidValidity: 1n, destinationPath: 'INBOX' };
const DATE = 1_000_000_000;
const LARGE = `Message-ID: <1>\r\nSubject: one\r\n\r\n${'Body '.repeat(10)}\r\n`;
const SMALL = 'Message-ID: <1>\r\n\r\nBody\r\n';
const TINY = 'x';

type There = { readonly uid: number; readonly text?: string; readonly date?: number };

type Given = {
  readonly uidValidity?: bigint;
  readonly claims?: readonly number[];
  /** Source UIDs of which the ledger does not take the rows. */
  readonly disowned?: readonly number[];
};

/**
 * What is found of messages that were refused, with the text that each has at the source, in a mailbox whose next UID
 * was 10 before.
 */
async function found(
  refused: readonly (Partial<Refused> & { readonly text?: string })[],
  there: readonly There[],
  { uidValidity = 3n, claims: claimed = [], disowned = [] }: Given = {},
) {
  const mailOf = ({ uid, text = LARGE, date = DATE }: There) => {
    return { uid, bytes: Buffer.from(text), flags: [], internalDate: new Date(date * 1000) };
  };
  const source = memoryAccount([
    { path: 'INBOX', messages: refused.map(({ text = LARGE }, at) => mailOf({ uid: at + 1, text })) },
  ]);
  const destination = memoryAccount([{ path: 'INBOX', uidValidity, messages: there.map(mailOf) }]);
  const rows: NewRow[] = [];
  const counted: number[] = [];
  const claims = new Set(claimed);
  let octets = 0;
  const run = {
    ...openFaults(),
    looked: () => {},
    askAgain: () => {},
    settled: (_: string, settled: readonly NewRow[]) => counted.push(...settled.map(({ uid }) => uid)),
    budget: { correct: (more: number) => (octets += more) },
    copy: {
      clock: MACHINE_CLOCK,
      signal: new AbortController().signal,
      onStep: async () => {},
      ledger: {
        settle: async (settled: readonly NewRow[]) => {
          rows.push(...settled);
          return settled.filter(({ uid }) => disowned.includes(uid));
        },
      },
    },
  } as unknown as Run;
  const session = { reader: await source.source.reader(), checker: await destination.source.reader() };
  const messages = refused.map(({ text = LARGE, ...more }, at): Refused => {
    const sha256 = createHash('sha256').update(text).digest('hex');
    return { uid: at + 1, size: text.length, sha256, date: DATE, hasRow: false, ...more };
  });
  const uids = await settleRefused(messages, {
    mailbox: MAILBOX,
    selected: { uidValidity: 3n, uidNext: 10 },
    claims,
    session: session as unknown as Session,
    run,
  } as Parameters<typeof settleRefused>[1]);
  const fates = rows.map(({ uid, destinationUid, fate }) => [uid, destinationUid, fate]);
  return { uids: [...uids], fates, counted, claims: [...claims], octets };
}

const NONE = { uids: [], fates: [], counted: [], octets: 0 };

describe('what was refused and stored all the same', () => {
  test.each<[string, readonly There[], Given]>([
    ['is not what was there before', [{ uid: 9 }], {}],
    ['is not what another row has', [{ uid: 11 }], { claims: [11] }],
    ['is not looked for under another UIDVALIDITY', [{ uid: 11 }], { uidValidity: 4n }],
    ['is not another one', [{ uid: 11, text: LARGE.replace('<1>', '<2>') }], {}],
  ])('%s', async (_, there, given) => {
    expect(await found([{}], there, given)).toMatchObject(NONE);
  });

  test('is found, and counted unless it had a row', async () => {
    const there = [{ uid: 11 }, { uid: 12, text: SMALL }];
    expect(await found([{}, { text: SMALL, hasRow: true }], there)).toEqual({
      uids: [1, 2],
      fates: [
        [1, 11, 'stored'],
        [2, 12, 'stored'],
      ],
      counted: [1],
      claims: [11, 12],
      octets: LARGE.length + SMALL.length,
    });
  });

  test('is sent again where it has been disowned', async () => {
    expect(await found([{}], [{ uid: 11 }], { disowned: [1] })).toMatchObject({
      uids: [],
      fates: [[1, 11, 'stored']],
      counted: [],
    });
  });

  test.each<[string, Partial<Refused>, There, string]>([
    ['with the date of a second try, as kept', { isRedated: true }, { uid: 11 }, 'kept'],
    ['with another date, as changed', {}, { uid: 11, date: DATE + 1 }, 'changed'],
    ['with another one than that of a second try, as changed', { isRedated: true }, { uid: 11, date: 1 }, 'changed'],
    ['in a form of the provider’s own, as kept', {}, { uid: 11, text: `X-Provider: yes\r\n${LARGE}` }, 'kept'],
  ])('is told %s', async (_, message, there, fate) => {
    expect(await found([message], [there])).toMatchObject({ uids: [1], fates: [[1, 11, fate]] });
  });

  test('is known by all of its octets and its date only, where it is tiny', async () => {
    const tiny = { text: TINY };
    expect(await found([tiny], [{ uid: 11, ...tiny }])).toMatchObject({ fates: [[1, 11, 'stored']] });
    expect(await found([tiny], [{ uid: 11, ...tiny, date: DATE + 1 }])).toMatchObject(NONE);
    expect(await found([tiny], [{ uid: 11, text: 'y' }])).toMatchObject(NONE);
    expect(await found([{ text: SMALL }], [{ uid: 11, text: `X-Provider: yes\r\n${SMALL}` }])).toMatchObject(NONE);
  });
});
