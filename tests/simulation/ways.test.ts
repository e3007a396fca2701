import { expect, test } from 'vitest';
import { sampleOf } from '../folders.ts';
import { WAYS } from './account.ts';
import { scenarioOf } from './scenario.ts';
import { simulate } from './simulate.ts';

const SEEDS = Array.from({ length: 40 }, (_, at) => 3_000_001 + at);

test.each(WAYS)(
  'servers that differ in this are read and written as any other: %s',
  { tags: 'sampled' },
  async (way) => {
    for (const seed of sampleOf(SEEDS, 20)) {
      const { source, destination, ...scenario } = scenarioOf(seed);
      const ways = [way];
      const { wrong } = await simulate({
        ...scenario,
        source: { ...source, ways },
        destination: { ...destination, ways },
      });
      expect({ seed, wrong }).toEqual({ seed, wrong: [] });
    }
  },
);
