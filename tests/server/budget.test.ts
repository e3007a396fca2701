import { describe, expect, test } from 'vitest';
import { MACHINE_CLOCK } from '../../src/server/clock.ts';
import type { Ledger } from '../../src/server/mail/copy/ledger/ledger.ts';
import { openBudget } from '../../src/server/mail/copy/run/budget.ts';
import { isWindow, limitsOf } from '../../src/server/mail/copy/run/provider-limits.ts';

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 10, 1, 12);
const SIDES = [
  { account: 'destination', way: 'up', limit: 'upADay' },
  { account: 'source', way: 'down', limit: 'downADay' },
] as const;

/** The budget of an account that allows 1000 octets a day, of which so many went through so many hours ago. */
function budgetOf(
  { account, way, limit }: (typeof SIDES)[number],
  before: readonly (readonly [number, number])[] = [],
) {
  const traffic = async (since: number) => {
    const octets = before.reduce((sum, [hours, each]) => (NOW - hours * HOUR > since ? sum + each : sum), 0);
    return { up: 0, down: 0, [way]: octets };
  };
  const limits = {
    source: { connections: 1 },
    destination: { connections: 1 },
    [account]: { connections: 1, [limit]: 1000 },
  };
  return openBudget(limits, { traffic } as Partial<Ledger> as Ledger, { ...MACHINE_CLOCK, now: () => NOW });
}

describe.each(SIDES)('what goes through the $account ($way) in a day', (side) => {
  const { account } = side;

  test('is no more than it allows, with what went before and without what was not stored after all', async () => {
    const budget = await budgetOf(side, [
      [25, 5000],
      [2, 300],
    ]);
    await budget.take(600);
    await expect(budget.take(101)).rejects.toMatchObject({ name: 'ProviderLimit', account });
    budget.correct(-1);
    await budget.take(101);
    expect(budget.room()).toBe(0);
    await expect(budget.take(1)).rejects.toMatchObject({ name: 'ProviderLimit', account });
  });

  test.each([
    ['all of it went just now', [[0, 1000]], 24],
    ['all of it went an hour ago', [[1, 1000]], 23],
    [
      'a part of it is soon a day old',
      [
        [23.5, 600],
        [1, 400],
      ],
      1,
    ],
  ] as const)('waits until half of that is free again, where %s', async (_, before, hours) => {
    await expect((await budgetOf(side, before)).take(1)).rejects.toMatchObject({ until: NOW + hours * HOUR });
  });

  test('is a message that is larger than all of that, alone', async () => {
    const budget = await budgetOf(side);
    await budget.take(1001);
    await expect(budget.take(1)).rejects.toMatchObject({ account });
    await expect((await budgetOf(side, [[2, 1]])).take(1001)).rejects.toMatchObject({ account });
  });
});

test('what providers publish is kept: octets a day and connections of Gmail, windows of Yahoo and AOL', () => {
  // support.google.com/a/answer/1071518
  expect(limitsOf('google', undefined)).toMatchObject({ upADay: 500_000_000, downADay: 2_500_000_000 });
  expect(limitsOf('google', undefined).connections).toBeLessThanOrEqual(15);
  for (const provider of ['yahoo', 'aol'] as const) {
    expect(isWindow(10_000, limitsOf(provider, undefined))).toBe(true);
    expect(isWindow(9999, limitsOf(provider, undefined))).toBe(false);
  }
});

test('a provider’s limits hold for who signs in at its server by a password, too', () => {
  const byHost = ['imap.gmail.com', 'outlook.office365.com', 'export.imap.mail.yahoo.com', 'imap.example'];
  expect(byHost.map((host) => limitsOf('other', undefined, host))).toEqual([
    limitsOf('google', undefined),
    limitsOf('office365', undefined),
    limitsOf('other', undefined),
    limitsOf('other', undefined),
  ]);
});

test('a mailbox of which the server’s name does not tell may be a window where it counts just as many as one shows', () => {
  const limits = limitsOf('other', undefined);
  expect([999, 1000, 1001, 10_000, 10_001, 100_000].filter((exists) => isWindow(exists, limits))).toEqual([
    1000, 10_000, 100_000,
  ]);
});
