import { describe, expect, test } from 'vitest';
import { MACHINE_CLOCK } from '../../src/server/clock.ts';
import type { Ledger } from '../../src/server/mail/copy/ledger/ledger.ts';
import { openBudget } from '../../src/server/mail/copy/run/budget.ts';
import { openCounts } from '../../src/server/mail/copy/run/counts.ts';
import type { CopyProgress } from '../../src/server/mail/copy/run/mail-copy.ts';
import { openPace } from '../../src/server/worker/pace.ts';
import { chanceOf } from '../simulation/chance.ts';

const MESSAGES = 5000;

/** A run over messages of very different sizes; each costs so many milliseconds, and so many more for each megabyte. */
function runOf(seed: number, aMessage: number, aMegabyte: number) {
  const chance = chanceOf(seed);
  const sizes = Array.from({ length: MESSAGES }, () => 500 + Math.floor(chance.skewed(5_000_000)));
  const octets = sizes.reduce((sum, size) => sum + size, 0);
  let now = 1000;
  const told: { readonly at: number; readonly share: number; readonly left: number | undefined }[] = [];
  const pace = openPace(() => now);
  const moved = { messages: 0, octets: 0 };
  const tell = () => {
    const left = { messages: MESSAGES - moved.messages, octets: octets - moved.octets };
    told.push({ at: now, share: moved.octets / octets, left: pace.secondsLeft({ moved: { ...moved }, left }) });
  };
  // Listing takes its time, and moves nothing.
  for (let second = 0; second < 60; second += 1) {
    tell();
    now += 1000;
  }
  for (const size of sizes) {
    now += aMessage + (size / 1e6) * aMegabyte;
    moved.messages += 1;
    moved.octets += size;
    tell();
  }
  return { told, end: now };
}

describe('the time that is left', () => {
  test.each([
    ['a fast line', 0.3, 20],
    ['a slow server', 40, 30],
    ['a slow line', 1, 900],
  ])('is within 20 percent of what it takes once a tenth is done, over %s', (_line, aMessage, aMegabyte) => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const { told, end } = runOf(seed, aMessage, aMegabyte);
      const said = told.filter(({ left, share }) => left !== undefined && share < 0.98);
      expect(said.length).toBeGreaterThan(MESSAGES / 2);
      for (const { at, left = 0 } of said) {
        const truth = (end - at) / 1000;
        expect(Math.abs(left - truth)).toBeLessThan(Math.max(0.02 * (end / 1000), 0.2 * truth));
      }
    }
  });

  test('is not given before a tenth is done, or while it is unknown how much is left', () => {
    const { told } = runOf(1, 1, 50);
    expect(told.filter(({ share }) => share < 0.05).every(({ left }) => left === undefined)).toBe(true);
    const pace = openPace(() => 5000);
    expect(pace.secondsLeft({ moved: { messages: 5, octets: 500 }, left: null })).toBeUndefined();
  });
});

test('what is found at the destination, and not copied, says nothing about the time that is left', () => {
  let now = 0;
  let said: number | undefined;
  const off: number[] = [];
  const pace = openPace(() => now);
  const onProgress = ({ moved, left }: CopyProgress) => {
    said = pace.secondsLeft({ moved, left });
  };
  const counts = openCounts({ onProgress }, () => Infinity);
  counts.set('INBOX', { done: 0, total: 1000, bytes: 0, kept: 0, octetsLeft: 1000 * 1000 });
  const row = { mailboxId: 1, fate: 'stored', size: 1000, verified: true } as const;
  for (let uid = 1; uid <= 1000; uid += 1) {
    const isFound = uid <= 500;
    now += isFound ? 20 : 1000;
    counts[isFound ? 'addFound' : 'add']('INBOX', [{ ...row, uid, date: null }]);
    if (said !== undefined) off.push(Math.abs(said - (1000 - uid)));
  }
  expect(off.length).toBeGreaterThan(400);
  expect(Math.max(...off)).toBeLessThanOrEqual(1);
});

test('there is no estimate for what a provider does not accept today, as nobody knows how long it waits', async () => {
  const ledger = { traffic: async () => ({ up: 300, down: 0 }) } as unknown as Ledger;
  const limits = { source: { connections: 1 }, destination: { connections: 1, upADay: 1000 } };
  const budget = await openBudget(limits, ledger, MACHINE_CLOCK);
  const told: unknown[] = [];
  const counts = openCounts({ onProgress: ({ left }) => told.push(left) }, () => budget.room());
  const folder = { done: 0, total: 2, bytes: 0, kept: 0, octetsLeft: 701 };
  counts.set('INBOX', folder);
  counts.set('INBOX', { ...folder, octetsLeft: 700 });
  await budget.take(1);
  counts.set('INBOX', { ...folder, octetsLeft: 700 });
  expect(told).toEqual([null, { messages: 2, octets: 700 }, null]);
});
