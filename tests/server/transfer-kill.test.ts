import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EMBEDDED, KILLS, moveWhileKilled, whole } from '../support/killed-transfer.ts';
import { needs } from '../support/needs.ts';
import { POSTGRESQL, startPostgres, type Postgres } from '../support/postgres.ts';

// `npm run proofs` kills at random moments as well, and many more times.
describe('a transfer whose process is killed again and again', { ...needs('dovecot'), timeout: 300_000 }, () => {
  let postgres: Postgres | undefined;
  beforeAll(async () => {
    if (POSTGRESQL !== null) postgres = await startPostgres();
  });
  afterAll(() => postgres?.[Symbol.asyncDispose]());

  test('still loses, doubles and changes nothing, on PGlite', async () => {
    expect(
      await moveWhileKilled({ address: EMBEDDED, kills: KILLS, randomKills: 0, withoutUidplus: false }),
    ).toMatchObject(whole());
  });

  test('still loses, doubles and changes nothing, on PGlite, towards a server without UIDPLUS', async () => {
    expect(
      await moveWhileKilled({ address: EMBEDDED, kills: KILLS.slice(1, 4), randomKills: 0, withoutUidplus: true }),
    ).toMatchObject(whole());
  });

  test('still loses, doubles and changes nothing, on PostgreSQL', needs('postgresql'), async () => {
    const url = (await postgres?.create()) ?? '';
    // Each restart waits until the dead worker is missed.
    expect(
      await moveWhileKilled({
        address: async () => ({ url }),
        kills: KILLS.slice(1, 3),
        randomKills: 0,
        withoutUidplus: false,
      }),
    ).toMatchObject(whole());
  });
});
