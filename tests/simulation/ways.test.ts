import { expect, test } from 'vitest';
import { sampleOf } from '../folders.ts';
import { type Quirks, WAYS } from './account.ts';
import { scenarioOf } from './scenario.ts';
import { simulate } from './simulate.ts';

const SEEDS = Array.from({ length: 40 }, (_, at) => 3_000_001 + at);

/** What comes twice or one by one soon uses up a day's octets, and is asked for again the next day. */
function withoutDailyLimit({ bytesADay: _limit, ...quirks }: Partial<Quirks>): Partial<Quirks> {
  return quirks;
}

test.each(WAYS)(
  'servers that differ in this are read and written as any other: %s',
  { tags: 'sampled' },
  async (way) => {
    for (const seed of sampleOf(SEEDS, 20)) {
      const { source, destination, ...scenario } = scenarioOf(seed);
      const ways = [way];
      const { wrong } = await simulate({
        ...scenario,
        source: { ...withoutDailyLimit(source), ways },
        destination: { ...withoutDailyLimit(destination), ways },
      });
      expect({ seed, wrong }).toEqual({ seed, wrong: [] });
    }
  },
);
