import { scenarioOf } from './scenario.ts';
import { shrink } from './shrink.ts';
import { simulate } from './simulate.ts';

/** Failures that are told before the rest is only counted. */
const TOLD = 5;

/** What the simulation has found and the engine does not do yet, by seed. Take out what is mended. */
export const OPEN: ReadonlyMap<number, string> = new Map();

/** Runs seeds one after the other. @returns each failure with what to replay it by; the first one is made smaller, too */
export async function failuresIn(from: number, to: number): Promise<string[]> {
  const failures: string[] = [];
  for (let seed = from; seed <= to; seed += 1) {
    if (OPEN.has(seed)) continue;
    const scenario = scenarioOf(seed);
    const { wrong } = await simulate(scenario);
    if (wrong.length === 0) continue;
    const smaller = failures.length === 0 ? `\n  at least: ${JSON.stringify(await shrink(scenario))}` : '';
    if (failures.length < TOLD)
      failures.push(
        `${wrong.slice(0, 3).join('; ')}\n  replay: SIMULATION_SEED=${seed} npm test -- tests/simulation/simulation.test.ts${smaller}`,
      );
    else failures.push(`seed ${seed}`);
  }
  return failures;
}
