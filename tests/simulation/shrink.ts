import type { Scenario } from './scenario.ts';
import { simulate } from './simulate.ts';
import type { Mutation } from './worker.ts';

const MOST_RUNS = 150;

/** Takes away what a failure does not need: faults, deeds, quirks, messages. @returns the smallest scenario that fails */
export async function shrink(scenario: Scenario, mutation: Mutation = {}): Promise<Scenario> {
  let smallest = scenario;
  let runs = 0;
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false;
    for (const candidate of smallerThan(smallest)) {
      runs += 1;
      if (runs > MOST_RUNS) return smallest;
      const { wrong } = await simulate(candidate, { mutation });
      if (wrong.length === 0) continue;
      smallest = candidate;
      isSmaller = true;
      break;
    }
  }
  return smallest;
}

function* smallerThan(scenario: Scenario): Iterable<Scenario> {
  for (const list of ['stops', 'links', 'database', 'clockJumps', 'deeds', 'poison', 'own'] as const)
    for (const index of scenario[list].keys()) yield { ...scenario, [list]: scenario[list].toSpliced(index, 1) };
  if (scenario.orders > 1) yield { ...scenario, orders: 1 };
  if (scenario.sizes !== undefined) {
    const { sizes: _usual, ...rest } = scenario;
    yield rest;
  }
  if (scenario.workers > 1) yield { ...scenario, workers: 1 };
  for (const index of scenario.folders.keys())
    if (scenario.folders.length > 1) yield { ...scenario, folders: scenario.folders.toSpliced(index, 1) };
  for (const [index, folder] of scenario.folders.entries())
    if (folder.letters > 1)
      yield {
        ...scenario,
        folders: scenario.folders.with(index, { ...folder, letters: Math.floor(folder.letters / 2) }),
      };
  for (const side of ['source', 'destination'] as const)
    for (const quirk of Object.keys(scenario[side])) {
      const { [quirk as keyof Scenario['source']]: _left, ...rest } = scenario[side];
      yield { ...scenario, [side]: rest };
    }
}
