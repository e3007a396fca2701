import { expect, test } from 'vitest';
import type { Quirks } from './account.ts';
import { PLAIN } from './scenario.ts';
import { simulate } from './simulate.ts';

const FORMS = ['adds headers', 'adds headers and size', 'changes line ends'] as const;

test.each(FORMS)('a server that leaves out of its answers what it likes, and %s', async (rewriting) => {
  for (const stops of [[], [{ worker: 1, atEffect: 150 }]]) {
    const destination: Partial<Quirks> = { rewriting, leavesOut: 0.4 };
    const folders = [{ name: 'INBOX', letters: 24 }];
    expect((await simulate({ ...PLAIN, folders, destination, stops })).wrong).toEqual([]);
  }
});
