import { expect, test } from 'vitest';
import type { Progress, TransferStatus } from '../../src/contract/calls/status.ts';
import { titleStateOf } from '../../src/portal/pages/status/title-state.ts';
import { arriveAtStatus } from '../support/owner-acts.ts';

const FINISHED = '2025-11-02T00:00:00Z';
const done: Progress = { status: 'completed', done: 400, total: 400, finished: FINISHED };
const running: Progress = { status: 'inprogress', done: 344, total: 400 };
const attention = { side: 'source', reason: 'password' } as const;

test.each<[string | undefined, TransferStatus]>([
  ['86%', { emailmigration: running, contactsmigration: { status: 'inprogress', done: 0, total: 60 } }],
  ['In progress', { emailmigration: { status: 'inprogress' } }],
  ['In progress', { emailmigration: { ...running, done: 400, compared: 3 } }],
  ['In progress', { emailmigration: done, contactsmigration: { status: 'inprogress', done: 6, total: 60 } }],
  ['Started', { emailmigration: { status: 'started' } }],
  ['Waiting', { emailmigration: { ...running, waiting: { reason: 'busy' } } }],
  ['Waiting for you', { emailmigration: { ...running, status: 'authentication_error', attention } }],
  ['Waiting for you', { emailmigration: running, contactsmigration: { status: 'review', attention } }],
  ['Stopped', { emailmigration: { ...running, status: 'review', ended: 'cancelled', finished: FINISHED } }],
  ['Needs review', { emailmigration: done, contactsmigration: { status: 'review', finished: FINISHED } }],
  ['Taken back', { emailmigration: { ...done, taken_back: 400 } }],
  [undefined, { emailmigration: done, contactsmigration: { ...done, done: 60, total: 60 } }],
])('the title of the tab says "%s" of a transfer that stands like this', async (said, status) => {
  const { context } = await arriveAtStatus(status);
  expect(titleStateOf({ context: context(), hasTag: () => false })).toBe(said);
});

test('the title of the tab says nothing of how a transfer stands once that is not up to date', async () => {
  const { context } = await arriveAtStatus({ emailmigration: running });
  expect(titleStateOf({ context: context(), hasTag: (tag) => tag === 'stale' })).toBeUndefined();
});
