import { describe, expect, test } from 'vitest';
import type { Quirks } from './account.ts';
import { PLAIN, SMALL, type Scenario } from './scenario.ts';
import { simulate } from './simulate.ts';

const FORMS = ['adds headers', 'adds headers and size', 'changes line ends'] as const;
const INBOX = [{ name: 'INBOX', letters: 24 }];

test.each(FORMS)('a server that leaves out of its answers what it likes, and %s', async (rewriting) => {
  for (const stops of [[], [{ worker: 1, atEffect: 150 }]]) {
    const destination: Partial<Quirks> = { rewriting, leavesOut: 0.4 };
    expect((await simulate({ ...PLAIN, folders: INBOX, destination, stops })).wrong).toEqual([]);
  }
});

describe('a server that changes bodies', () => {
  test.each<[string, Partial<Quirks>, Partial<Scenario>]>([
    ['says no UIDs', { uidPlus: false }, {}],
    ['leaves out of its answers what it likes', { leavesOut: 0.4 }, {}],
    ['shows late what it has stored', { showsAfter: 2000 }, { sizes: SMALL }],
    ['asks for pauses', { appendsAMinute: 9 }, { sizes: SMALL }],
    ['is asked to take the same a second time', {}, { orders: 2 }],
  ])('and %s', async (_, quirks, more) => {
    const destination: Partial<Quirks> = { rewriting: 'changes the body', ...quirks };
    const { wrong, receipts } = await simulate({ ...PLAIN, folders: INBOX, ...more, destination });
    const told = { status: 'review', lost: 0, duplicated: 0, changed: 24, kept: 0 };
    expect({ wrong, receipts }).toMatchObject({ wrong: [], receipts: receipts.map(() => told) });
  });
});
