import { expect, test } from 'vitest';
import type { Quirks } from './account.ts';
import type { Scenario } from './scenario.ts';
import { simulate } from './simulate.ts';

/** What the seeds do not make: folders as large as is said, and fair weather but for what is said. */
function scenarioWith(letters: readonly number[], given: Partial<Scenario>): Scenario {
  return {
    seed: 1,
    folders: letters.map((count, index) => ({ name: index === 0 ? 'INBOX' : `Box ${index}`, letters: count })),
    own: [],
    source: {},
    destination: {},
    poison: [],
    weather: { latency: 2, jitter: 1, pieces: false },
    connections: 4,
    deeds: [],
    stops: [],
    links: [],
    database: [],
    clockJumps: [],
    workers: 1,
    orders: 1,
    ...given,
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
  const stops = atEffect.map((effect, index) => ({ worker: index + 1, atEffect: effect }));
  const { wrong, receipts } = await simulate(scenarioWith(letters, { destination, stops }));
  expect(wrong).toEqual([]);
  expect(receipts.map(({ status }) => status)).toEqual(['completed']);
});

test('a mailbox of the source that is deleted under way keeps none of the others back', async () => {
  for (let atCommand = 3; atCommand < 40; atCommand += 3) {
    const deeds = [{ side: 'source', atCommand, does: 'deletes a mailbox' }] as const;
    const { wrong, receipts } = await simulate(scenarioWith([30, 20, 20], { deeds }));
    expect({ atCommand, wrong }).toEqual({ atCommand, wrong: [] });
    expect(receipts.map(({ failure, lost }) => ({ failure, lost }))).toEqual([{ failure: undefined, lost: 0 }]);
  }
});
