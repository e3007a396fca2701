import { describe, expect, test } from 'vitest';
import { createEmptyDatabase } from '../support/fresh-database.ts';
import { EMBEDDED, KILLS, moveWhileKilled, whole } from '../support/killed-transfer.ts';
import { IS_PROOF } from '../folders.ts';
import { needs } from '../support/needs.ts';

/** One here, of a small mailbox; `npm run proofs` has them all, and kills at random moments besides. */
const [SOME_KILLS, ordinary] = IS_PROOF ? [KILLS, 350] : [KILLS.slice(1, 2), 120];

describe('a transfer whose process is killed again and again', { ...needs('dovecot'), timeout: 300_000 }, () => {
  test('still loses, doubles and changes nothing, on PGlite', async () => {
    expect(
      await moveWhileKilled({ address: EMBEDDED, kills: SOME_KILLS, randomKills: 0, withoutUidplus: false, ordinary }),
    ).toMatchObject(whole(ordinary));
  });

  if (!IS_PROOF) return;

  test('still loses, doubles and changes nothing, on PGlite, towards a server without UIDPLUS', async () => {
    expect(
      await moveWhileKilled({ address: EMBEDDED, kills: KILLS, randomKills: 0, withoutUidplus: true }),
    ).toMatchObject(whole());
  });

  test('still loses, doubles and changes nothing, on PostgreSQL', needs('postgresql'), async () => {
    const url = await createEmptyDatabase();
    // Each restart waits until the dead worker is missed.
    expect(
      await moveWhileKilled({
        address: async () => ({ url }),
        kills: KILLS,
        randomKills: 0,
        withoutUidplus: false,
      }),
    ).toMatchObject(whole());
  });
});
