import { expect, test } from 'vitest';
import { MessageList, UidSet } from '../../src/server/mail/copy/ledger/columns.ts';
import type { Planned } from '../../src/server/mail/copy/ledger/ledger.ts';
import { fractionsOf } from '../support/random.ts';

/** UIDs as servers list them: rising, but for some that come late, twice or in any order. */
function uidsOf(seed: number): number[] {
  const random = fractionsOf(seed);
  const isOrderly = random() < 0.5;
  let uid = 0;
  return Array.from({ length: 300 }, () => {
    uid += Math.floor(random() * 4);
    return isOrderly && random() < 0.9 ? uid : Math.floor(random() * 1000);
  });
}

test.each(Array.from({ length: 20 }, (_, seed) => seed))('holds what a Set and a Map hold (%i)', (seed) => {
  const [set, uids] = [new Set<number>(), new UidSet()];
  const [map, list] = [new Map<number, Planned>(), new MessageList()];
  expect([list.length, list.lowest, list.highest, [...list]]).toEqual([0, Infinity, 0, []]);
  for (const [at, uid] of uidsOf(seed).entries()) {
    const message = { uid, size: at * 1e10, date: at % 3 === 0 ? null : at - 100 };
    set.add(uid);
    uids.add(uid);
    map.set(uid, message);
    list.set(message);
    expect([uids.size, list.length]).toEqual([set.size, map.size]);
  }
  for (let uid = 0; uid <= 1200; uid += 1) expect([uids.has(uid), list.has(uid)]).toEqual([set.has(uid), map.has(uid)]);
  const sorted = [...map.values()].toSorted((a, b) => a.uid - b.uid);
  expect([...list]).toEqual(sorted);
  expect([list.lowest, list.highest]).toEqual([sorted[0]?.uid, sorted.at(-1)?.uid]);
  expect(list.filter(({ uid }) => uid % 2 === 0)).toEqual(sorted.filter(({ uid }) => uid % 2 === 0));
});

test('UIDs of any size are told apart', () => {
  const list = new MessageList();
  for (const uid of [1, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1]) list.set({ uid, size: 0, date: 0 });
  expect([...list].map(({ uid }) => uid)).toEqual([1, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1]);
});
