import { expect, test } from 'vitest';
import { ALL_PROOFS } from '../folders.ts';
import { failuresIn } from '../simulation/seeds.ts';

/** Seeds beyond those of `npm test`; another number tries more of them. */
const SEEDS = Number(process.env['SIMULATION_SEEDS'] ?? (ALL_PROOFS ? 100_000 : 20_000));
const FIRST = 501;

test('simulations by the thousand end as they should', { timeout: 3 * 3_600_000 }, async () => {
  expect(await failuresIn(FIRST, FIRST + SEEDS - 1)).toEqual([]);
});
