import { describe, expect, test } from 'vitest';
import { openStream } from '../../src/server/mail/copy/lanes/lane-work.ts';
import { openLanes } from '../../src/server/mail/copy/lanes/lanes.ts';
import { meanwhile, type Task } from '../../src/server/mail/copy/lanes/meanwhile.ts';
import { MailError } from '../../src/server/mail/imap/mail-error.ts';
import { Stopped } from '../../src/server/stopped.ts';
import { HASTY_CLOCK } from '../support/hasty-clock.ts';

function later(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const checksOf = (...items: readonly string[]) => {
  const checks = openStream<string>({ weightOf: () => 1, areAlike: () => false, join: () => null });
  for (const item of items) checks.push(item);
  return checks;
};

/** Puts it in front of those that wait. */
function nextAgain<Item>(item: Item, waiting: Item[]): boolean {
  waiting.unshift(item);
  return false;
}

/** Two lanes: both sessions stand from the beginning. */
async function twoLanes(signal = new AbortController().signal) {
  const session = { [Symbol.asyncDispose]: async () => {} };
  const lanes = openLanes({
    size: 2,
    open: async () => session,
    clock: HASTY_CLOCK,
    signal,
    moved: () => 0,
  });
  lanes.warm(2);
  await later();
  return lanes;
}

describe('what lanes do meanwhile', () => {
  test('is done by a lane without an item, also when it comes later, until the last item is done', async () => {
    const checks = checksOf('early');
    const large = Promise.withResolvers<void>();
    const tasks = meanwhile(['large'], checks, () => true, nextAgain);
    const done: string[] = [];
    await using lanes = await twoLanes();
    const work = async ({ kind, item }: Task<string, string>) => {
      if (kind === 'other') {
        done.push(item);
        if (item === 'early') checks.push('late');
        else large.resolve();
        return;
      }
      await large.promise;
      done.push(item);
      checks.push('left');
      tasks.done(item);
    };
    await lanes.work(tasks, work);
    expect(done).toEqual(['early', 'late', 'large']);
    expect(checks.take()).toBe('left');
  });

  test('is not begun where lanes can’t do it', async () => {
    const checks = checksOf('check');
    const tasks = meanwhile(['one', 'two'], checks, () => false, nextAgain);
    const done: string[] = [];
    await using lanes = await twoLanes();
    await lanes.work(tasks, async ({ item }) => {
      done.push(item);
      tasks.done(item);
    });
    expect(done).toEqual(['one', 'two']);
    expect(checks.length()).toBe(1);
  });

  test('keeps no lane waiting for a stream that has ended, or for an item that has failed', async () => {
    const checks = checksOf();
    const tasks = meanwhile(['fails'], checks, () => true, nextAgain);
    await using lanes = await twoLanes();
    const failing = lanes.work(tasks, async (task: Task<string, string>) => {
      await later();
      tasks.done(task.item);
      throw new MailError('credentials', 'No');
    });
    await expect(failing).rejects.toThrow('No');
    checks.end();
    const others = meanwhile(['item'], checks, () => true, nextAgain);
    expect(await others.next()).toEqual({ kind: 'first', item: 'item' });
    expect(await others.next()).toBeNull();
  });

  test('keeps no lane waiting for an item that was taken when the work was asked to stop', async () => {
    const stop = new AbortController();
    const checks = checksOf();
    const tasks = meanwhile(['one', 'two', 'last'], checks, () => true, nextAgain);
    await using lanes = await twoLanes(stop.signal);
    const stopped = lanes.work(tasks, async ({ item }) => {
      await later();
      if (item === 'one') stop.abort();
      else await later();
      tasks.done(item);
    });
    await expect(stopped).rejects.toThrow(Stopped);
  });

  test('gives back to where it came from', async () => {
    const checks = checksOf('check');
    const tasks = meanwhile(['item'], checks, () => true, nextAgain);
    const first = await tasks.next();
    const other = await tasks.next();
    expect([first, other]).toEqual([
      { kind: 'first', item: 'item' },
      { kind: 'other', item: 'check' },
    ]);
    if (other !== null) tasks.giveBack(other);
    expect(checks.length()).toBe(1);
    tasks.done('item');
    expect(await tasks.waits()).toBe(false);
    if (first !== null) tasks.giveBack(first);
    expect([await tasks.waits(), tasks.length()]).toEqual([true, 1]);
    expect(await tasks.next()).toEqual(first);
  });
});
