import { expect, test } from 'vitest';
import type { Quirks } from './account.ts';
import type { Scenario } from './scenario.ts';
import { simulate } from './simulate.ts';

/** Folders of several groups and forms, which the seeds' are too small for, in fair weather but for what is said. */
function largeFolders(letters: readonly number[], destination: Partial<Quirks>, atEffect: readonly number[]): Scenario {
  return {
    seed: 1,
    folders: letters.map((count, index) => ({ name: index === 0 ? 'INBOX' : `Box ${index}`, letters: count })),
    own: [],
    source: {},
    destination,
    poison: [],
    weather: { latency: 2, jitter: 1, pieces: false },
    connections: 4,
    deeds: [],
    stops: atEffect.map((effect, index) => ({ worker: index + 1, atEffect: effect })),
    links: [],
    database: [],
    clockJumps: [],
    workers: 1,
    orders: 1,
  };
}

const REWRITING = { uidPlus: false, rewriting: 'adds headers' } as const;

test.each<[string, readonly number[], Partial<Quirks>, readonly number[]]>([
  ['700 letters that come without UIDs, in another form', [700], REWRITING, []],
  ['1,500 of them', [1500], REWRITING, []],
  ['700 of them, and a death at 100 effects', [700], REWRITING, [100]],
  ['700 of them, and a death at 400 effects', [700], REWRITING, [400]],
  ['700 of them, and a death at 700 effects', [700], REWRITING, [700]],
  ['1,100 of them, and deaths at 900 and 300', [1100], REWRITING, [900, 300]],
  ['700 letters in another form whose UIDs are said, and a death', [700], { rewriting: 'adds headers' }, [300]],
  ['five folders, and deaths', [1200, 300, 300, 300, 300], {}, [500, 300, 200]],
  ['synchronising literals, and deaths', [400, 200], { literals: 'synchronising' }, [500, 300]],
])('large folders: %s', { timeout: 300_000 }, async (_, letters, destination, atEffect) => {
  const { wrong, receipts } = await simulate(largeFolders(letters, destination, atEffect));
  expect(wrong).toEqual([]);
  expect(receipts.map(({ status }) => status)).toEqual(['completed']);
});
