import { expect, test } from 'vitest';
import { ALL_PROOFS } from '../folders.ts';
import { createEmptyDatabase } from '../support/fresh-database.ts';
import { EMBEDDED, KILLS, moveWhileKilled, whole } from '../support/killed-transfer.ts';
import { needs } from '../support/needs.ts';

const [RANDOM_KILLS, MESSAGES] = ALL_PROOFS ? [300, 2000] : [20, 400];
const SMALL = 20;

test(
  'a transfer whose process is killed at any moment, again and again, loses, doubles and changes nothing',
  { ...needs('dovecot'), timeout: 1_500_000 },
  async ({ annotate }) => {
    const began = performance.now();
    const killed = { address: EMBEDDED, kills: KILLS, randomKills: RANDOM_KILLS, withoutUidplus: false };
    expect(await moveWhileKilled({ ...killed, ordinary: MESSAGES })).toMatchObject(whole(MESSAGES));
    const seconds = ((performance.now() - began) / 1000).toFixed(0);
    await annotate(
      `${MESSAGES} messages, killed ${KILLS.length + RANDOM_KILLS} times in ${seconds} s: nothing lost, doubled or changed`,
      'figure',
    );
  },
);

test(
  'a transfer whose process is killed at every step in turn loses, doubles and changes nothing',
  needs('dovecot'),
  async ({ annotate }) => {
    const killed = { address: EMBEDDED, kills: [], randomKills: 0, withoutUidplus: false, ordinary: SMALL };
    const { steps, ...end } = await moveWhileKilled({ ...killed, atEveryStep: true });
    expect(end).toMatchObject(whole(SMALL));
    await annotate(`killed at each of ${steps} steps in turn: nothing lost, doubled or changed`, 'figure');
  },
);

test(
  'a transfer that is killed again and again towards a server without UIDPLUS loses, doubles and changes nothing',
  needs('dovecot'),
  async () => {
    expect(
      await moveWhileKilled({ address: EMBEDDED, kills: KILLS, randomKills: 0, withoutUidplus: true }),
    ).toMatchObject(whole());
  },
);

test(
  'a transfer on PostgreSQL that is killed again and again loses, doubles and changes nothing',
  needs('dovecot', 'postgresql'),
  async () => {
    const url = await createEmptyDatabase();
    // Each restart waits until the dead worker is missed.
    expect(
      await moveWhileKilled({ address: async () => ({ url }), kills: KILLS, randomKills: 0, withoutUidplus: false }),
    ).toMatchObject(whole());
  },
);
