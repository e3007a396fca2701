import { ALL_PROOFS } from '../folders.ts';
import { failuresIn } from '../simulation/seeds.ts';

/** Seeds beyond those of `npm test`; another number tries more of them. */
const SEEDS = Number(process.env['SIMULATION_SEEDS'] ?? (ALL_PROOFS ? 100_000 : 20_000));
const FIRST = 501;

/** In files of their own, so that each half has a process: one would take twice as long as all other proofs. */
export function failuresOf(half: 'lower' | 'upper') {
  const [middle, last] = [FIRST + Math.ceil(SEEDS / 2), FIRST + SEEDS];
  return half === 'lower' ? failuresIn(FIRST, middle - 1) : failuresIn(middle, last - 1);
}
