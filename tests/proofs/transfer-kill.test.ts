import { expect, test } from 'vitest';
import { EMBEDDED, KILLS, moveWhileKilled, WHOLE } from '../support/killed-transfer.ts';
import { needs } from '../support/needs.ts';

const RANDOM_KILLS = 100;

test(
  'a transfer whose process is killed a hundred times at any moment loses, doubles and changes nothing',
  needs('dovecot'),
  async ({ annotate }) => {
    const began = performance.now();
    expect(
      await moveWhileKilled({ address: EMBEDDED, kills: KILLS, randomKills: RANDOM_KILLS, withoutUidplus: false }),
    ).toMatchObject(WHOLE);
    const seconds = ((performance.now() - began) / 1000).toFixed(0);
    await annotate(
      `killed ${KILLS.length + RANDOM_KILLS} times in ${seconds} s: nothing lost, doubled or changed`,
      'figure',
    );
  },
);
