import { expect, test } from 'vitest';
import { sampleOf } from '../../folders.ts';
import type { Quirks } from '../account.ts';
import { dyingAt, REWRITING, scenarioWith } from './fair-scenario.ts';
import { simulate } from '../simulate.ts';

const LARGE: readonly [string, readonly number[], Partial<Quirks>, readonly number[]][] = [
  ['700 letters that come without UIDs, in another form', [700], REWRITING, []],
  ['1,500 of them', [1500], REWRITING, []],
  ['700 of them, and an early death', [700], REWRITING, [0.3]],
  ['700 of them, and a death in the middle', [700], REWRITING, [0.5]],
  ['700 of them, and a late death', [700], REWRITING, [0.8]],
  ['1,100 of them, and two deaths', [1100], REWRITING, [0.7, 0.4]],
  ['700 letters in another form whose UIDs are said, and a death', [700], { rewriting: 'adds headers' }, [0.6]],
  ['five folders, and three deaths', [1200, 300, 300, 300, 300], {}, [0.6, 0.5, 0.3]],
  ['synchronising literals, and two deaths', [400, 200], { literals: 'synchronising' }, [0.7, 0.5]],
];

test.each(sampleOf(LARGE, 3))(
  'large folders: %s',
  { tags: 'sampled', timeout: 300_000 },
  async (_, letters, destination, parts) => {
    const scenario = await dyingAt(parts, scenarioWith(letters, { destination }));
    const { wrong, receipts, deaths } = await simulate(scenario);
    expect(wrong).toEqual([]);
    expect(deaths).toBe(parts.length);
    expect(receipts.map(({ status }) => status)).toEqual(['completed']);
  },
);

/** Milliseconds until the last append of one large folder, far away: lanes that have none read back what is stored. */
async function storedAfter(destination: Partial<Quirks>): Promise<number> {
  const weather = { latency: 400, jitter: 1, pieces: false };
  const { wrong, trace, receipts } = await simulate(scenarioWith([3000, 30], { destination, weather }), {
    keepsTrace: true,
  });
  expect(wrong).toEqual([]);
  expect(receipts.map(({ status }) => status)).toEqual(['completed']);
  return Number.parseFloat(trace.findLast((line) => / says \w+ APPEND /.test(line)) ?? '');
}

test(
  'a destination that is too busy to read anything back keeps nothing from being stored',
  { tags: 'proof' },
  async () => {
    const refusesReading = { part: 1, code: 'THROTTLED', only: 'UID FETCH', until: 120_000 };
    const inFairWeather = await storedAfter({});
    // Longer than lanes try in a row.
    expect(inFairWeather).toBeGreaterThan(20_000);
    expect(await storedAfter({ refusesReading })).toBeLessThan(1.1 * inFairWeather);
  },
);
