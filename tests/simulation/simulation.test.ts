import { describe, expect, test } from 'vitest';
import { FOUND_BY_READERS } from './found.ts';
import { MUTATIONS } from './mutations.ts';
import { scenarioOf } from './scenario.ts';
import { failuresIn, FOUND } from './seeds.ts';
import { simulate } from './simulate.ts';

const SEEDS = 500;
const ONE_SEED = process.env['SIMULATION_SEED'];
const LONG = { timeout: 300_000 };

describe('the engine in the simulation', () => {
  test('the same seed replays exactly, and another one differs', LONG, async () => {
    const traces: string[] = [];
    for (const seed of [1, 1, 2, 7, 7, 33, 33])
      traces.push((await simulate(scenarioOf(seed), { keepsTrace: true })).trace.join('\n'));
    const [one, oneAgain, two, seven, sevenAgain, last, lastAgain] = traces;
    expect([oneAgain, sevenAgain, lastAgain]).toEqual([one, seven, last]);
    expect(new Set([one, two, seven, last]).size).toBe(4);
  });

  test('every message arrives once or is skipped for a true reason, and the receipt says so', LONG, async () => {
    expect(ONE_SEED === undefined ? await failuresIn(1, SEEDS) : await toldOf(Number(ONE_SEED))).toEqual([]);
  });

  test.for([...FOUND])('seed %i: %s', { ...LONG, tags: 'proof' }, async ([seed]) => {
    expect(await failuresIn(seed, seed)).toEqual([]);
  });

  test.for(FOUND_BY_READERS)('%s', { ...LONG, tags: 'proof' }, async ([, scenario]) => {
    expect((await simulate(scenario)).wrong).toEqual([]);
  });

  test.for(Object.entries(MUTATIONS))('the simulation finds %s', LONG, async ([, mutation]) => {
    let found: number | null = null;
    for (let seed = 1; seed <= SEEDS && found === null; seed += 1)
      if ((await simulate(scenarioOf(seed), { mutation })).wrong.length > 0) found = seed;
    expect(found).not.toBeNull();
  });
});

/** Runs one seed and prints everything that happens in it. @returns what is wrong */
async function toldOf(seed: number): Promise<readonly string[]> {
  const scenario = scenarioOf(seed);
  const { wrong, trace, receipts } = await simulate(scenario, { keepsTrace: true });
  process.stdout.write(`${JSON.stringify(scenario)}\n${trace.join('\n')}\n${JSON.stringify(receipts)}\n`);
  return wrong;
}
