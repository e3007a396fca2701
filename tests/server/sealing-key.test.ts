import { describe, expect, test } from 'vitest';
import { SettingsError } from '../../src/contract/settings.ts';
import { openDatabase } from '../../src/server/store/database.ts';
import { requireSealingKey } from '../../src/server/store/sealing-key.ts';
import { openVault } from '../../src/server/store/vault.ts';
import { createEmptyDatabase } from '../support/fresh-database.ts';
import { needs } from '../support/needs.ts';

const [one, other] = [openVault(Buffer.alloc(32, 1)), openVault(Buffer.alloc(32, 2))];
const TOKEN = '0123456789abcdef0123456789abcdef';

describe('the key of a shared database', needs('postgresql'), () => {
  test('is that of the first process, as long as something is sealed with it', async () => {
    const url = await createEmptyDatabase();
    await using database = await openDatabase({ url });
    await requireSealingKey(database, one);
    await requireSealingKey(database, one);
    await database.query(
      'insert into oauth_tokens (id, provider, email, sealed, expires) values ($1, $2, $3, $4, 9e15)',
      [TOKEN, 'yahoo', 'ann@yahoo.example', one.seal('a place', 'a token')],
    );
    await requireSealingKey(database, one);
    await using later = await openDatabase({ url });
    await expect(requireSealingKey(later, other)).rejects.toThrow(SettingsError);
    await requireSealingKey(later, one);
    await database.query('delete from oauth_tokens');
    await requireSealingKey(later, other);
    await expect(requireSealingKey(database, one)).resolves.toBeUndefined();
  });

  test('is one key when two processes start at once', async () => {
    await using database = await openDatabase({ url: await createEmptyDatabase() });
    await Promise.all([requireSealingKey(database, one), requireSealingKey(database, other)]);
    expect(await database.query('select digest from sealing_key')).toHaveLength(1);
  });
});
