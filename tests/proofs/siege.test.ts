import { expect, test } from 'vitest';
import { PRICE } from '../../src/server/web/sign-in-limits.ts';
import { ALL_PROOFS } from '../folders.ts';
import { besiege, busiestHour } from '../support/siege.ts';

const MINUTES = ALL_PROOFS ? 6 * 60 : 10;

test('a mailbox lets its owner in while five thousand networks guess for hours', async () => {
  const sites = 5000;
  const owners = [0, 1, 3, 5, 10, 19, 30, 61, 120, 180, 240, 300, 359].filter((minute) => minute < MINUTES);
  const siege = await besiege({ sites, minutes: MINUTES, joining: 1000, owners });
  expect(siege.arrivals.map(({ minute }) => minute)).toEqual(owners);
  for (const { minute, work } of siege.arrivals)
    for (const pieces of work) expect([0, 1], `in minute ${minute}`).toContain(pieces);
  expect(siege.dearest).toBe(PRICE.most);
  expect(siege.guesses.length).toBeLessThanOrEqual(16_035 + 2 * MINUTES);
  console.log(`${siege.guesses.length} guesses in ${MINUTES} minutes, ${busiestHour(siege.guesses)} in the busiest.`);
}, 900_000);
