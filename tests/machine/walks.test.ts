import { expect, test } from 'vitest';
import { sampleOf } from '../folders.ts';
import { promisesTo } from '../support/promises.ts';
import { randomOf } from '../support/random.ts';
import { openPortal } from '../support/visitor.ts';
import { walk } from '../support/walk.ts';

const SEEDS = [1, 2, 3, 4, 5];
const MOVES = 10_000;

test.each(sampleOf(SEEDS, 5))(
  'random walk %i of 10,000 moves keeps the promises of every page',
  // Five seconds of work, which other work beside it can make a minute.
  { tags: 'sampled', timeout: 120_000 },
  async (seed) => {
    const seen = { transitions: new Set<string>(), guards: new Set<string>(), leaves: new Set<string>() };
    const places = new Set<string>();
    await walk(randomOf(seed), MOVES, openPortal(seen), promisesTo(places));
    process.stdout.write(`Walk ${seed}: ${places.size} places, ${seen.transitions.size} transitions\n`);
    expect(places.size).toBeGreaterThan(300);
  },
);
