import { createCipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SettingsError } from '../../src/contract/settings.ts';
import { openLog } from '../../src/server/log.ts';
import { openSealing, openSealingBeside } from '../../src/server/sealing.ts';
import { type Database, openDatabase } from '../../src/server/store/database.ts';
import { requireSealingKey } from '../../src/server/store/sealing-key.ts';
import { openVault, SealError } from '../../src/server/store/vault.ts';
import { openCredentials } from '../../src/server/transfers/credentials.ts';
import { openOwners } from '../../src/server/transfers/owners.ts';
import { openVerifiers } from '../../src/server/transfers/verifiers.ts';
import { startWorker } from '../../src/server/worker/worker.ts';
import { createEmptyDatabase, layFreshDatabase } from '../support/fresh-database.ts';
import { needs } from '../support/needs.ts';
import { isPage, OauthBrowser } from '../support/oauth-browser.ts';
import { fromBrowser, LEGACY_DOMAIN, openWebWorld } from '../support/web-world.ts';
import { storedTransfer } from '../support/stored-transfer.ts';

const [FIRST, SECOND, THIRD] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2), Buffer.alloc(32, 3)];
const [one, other] = [openVault(FIRST), openVault(SECOND)];
const TOKEN = '0123456789abcdef0123456789abcdef';
const ANN = `ann@${LEGACY_DOMAIN}`;
const BOB = `bob@${LEGACY_DOMAIN}`;
const PASSWORD = 'correct horse';
const ELSEWHERE = 'battery staple';
const HERE = 'a'.repeat(64);
const nothing = () => Promise.resolve();

describe('the key of a shared database', needs('postgresql'), () => {
  test('is that of the first process, as long as something is sealed with it', async () => {
    const url = await createEmptyDatabase();
    await using database = await openDatabase({ url });
    await requireSealingKey(database, one, nothing);
    await requireSealingKey(database, one, nothing);
    await database.query(
      'insert into oauth_tokens (id, provider, email, sealed, expires) values ($1, $2, $3, $4, 9e15)',
      [TOKEN, 'yahoo', 'ann@yahoo.example', one.seal('a place', 'a token')],
    );
    await requireSealingKey(database, one, nothing);
    await using later = await openDatabase({ url });
    await expect(requireSealingKey(later, other, nothing)).rejects.toThrow(SettingsError);
    await requireSealingKey(later, one, nothing);
    await database.query('delete from oauth_tokens');
    expect(await requireSealingKey(later, other, nothing), 'which is to be told').toBe(true);
    expect(await requireSealingKey(database, openVault(FIRST, [SECOND]), nothing)).toBe(false);
    expect(await requireSealingKey(database, one, nothing)).toBe(false);
  });

  test('is neither guessed nor changed by a command beside the product', async () => {
    const url = await createEmptyDatabase();
    await using database = await openDatabase({ url });
    await requireSealingKey(database, one, nothing);
    const key = await database.query('select digest from sealing_key');
    const beside = (secretKey: Buffer, ...former: readonly Buffer[]) =>
      openSealingBeside({
        settings: {
          secretKey: secretKey.toString('base64'),
          formerSecretKeys: former.map((each) => each.toString('base64')),
          databaseUrl: url,
          dataDir: '.',
        },
        database,
        folder: { secretKey: () => Promise.reject(new Error('not asked for')) },
      });
    await expect(beside(SECOND)).rejects.toThrow(SettingsError);
    await beside(FIRST);
    await beside(SECOND, FIRST);
    expect(await database.query('select digest from sealing_key')).toEqual(key);
  });

  test('is one key when two processes start at once', async () => {
    await using database = await openDatabase({ url: await createEmptyDatabase() });
    await Promise.all([requireSealingKey(database, one, nothing), requireSealingKey(database, other, nothing)]);
    expect(await database.query('select digest from sealing_key')).toHaveLength(1);
  });
});

/** As it was sealed before it named its algorithm and key. */
function sealedWithoutHead(key: Uint8Array, place: string, secret: string): Buffer {
  const nonce = randomBytes(12);
  const sealing = Buffer.from(hkdfSync('sha256', key, '', 'seal', 32));
  const cipher = createCipheriv('aes-256-gcm', sealing, nonce).setAAD(Buffer.from(place));
  return Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
}

describe('what is sealed', () => {
  test('names its algorithm and its key, and is opened by that one alone', () => {
    const sealed = one.seal('a place', 'a secret');
    expect(sealed[0]).toBe(1);
    const again = one.seal('a place', 'another secret');
    expect(sealed.subarray(1, 9)).toEqual(again.subarray(1, 9));
    expect(other.seal('a place', 'a secret').subarray(1, 9)).not.toEqual(sealed.subarray(1, 9));
    expect(() => other.open('a place', sealed)).toThrow(SealError);
    const both = openVault(SECOND, [THIRD, FIRST]);
    expect(both.open('a place', sealed)).toBe('a secret');
    expect(both.seal('a place', 'a secret').subarray(1, 9)).toEqual(other.seal('a place', '').subarray(1, 9));
    for (const at of [0, 1, 8, 9, sealed.length - 1]) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => both.open('a place', changed), `octet ${at}`).toThrow(SealError);
    }
    expect(() => both.open('a place', sealed.subarray(0, 5))).toThrow(SealError);
  });

  test('from before it named them can still be opened', () => {
    const sealed = sealedWithoutHead(FIRST, 'a place', 'a secret');
    for (const vault of [one, openVault(SECOND, [FIRST])]) expect(vault.open('a place', sealed)).toBe('a secret');
    expect(() => other.open('a place', sealed)).toThrow(SealError);
    expect(() => one.open('another place', sealed)).toThrow(SealError);
  });
});

const KINDS = [
  ['PostgreSQL', needs('postgresql')],
  ['the embedded database', {}],
] as const;

describe.each(KINDS)('SECRET_KEY on %s', (kind, options) => {
  test('is replaced while a transfer is under way, which then goes on', { ...options, timeout: 120_000 }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sealing-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const embedded = kind !== 'PostgreSQL';
    if (embedded) await layFreshDatabase(folder);
    const address = embedded ? { folder: join(folder, 'database') } : { url: await createEmptyDatabase() };
    const environment = { DATA_DIR: folder };

    const sealingBy = async (database: Database, key: Buffer, ...former: readonly Buffer[]) =>
      openSealing({
        settings: {
          dataDir: folder,
          secretKey: key.toString('base64'),
          formerSecretKeys: former.map((each) => each.toString('base64')),
          ...('url' in address ? { databaseUrl: address.url } : {}),
        },
        database,
        folder: { secretKey: () => Promise.reject(new Error('No key is generated here.')) },
        log: openLog('silent'),
      });

    // With the first key: a transfer, an export, what is brought once a day, and a sign-in at a provider.
    const ids = { transfer: '', export: '', token: '' };
    {
      await using world = await openWebWorld({ address, key: FIRST, environment, providers: ['yahoo'] });
      if (world.providers.yahoo !== undefined) world.providers.yahoo.person.email = ANN;
      for (const email of [ANN, BOB]) world.passwords.set(email, PASSWORD);
      world.passwords.set('ann@aol.example', ELSEWHERE);
      await sealingBy(world.database, FIRST);
      const load = async (email: string, rest: object) => {
        const order = { source_account: { email, password: PASSWORD, provider: 'sanbruno' }, parameters: {}, ...rest };
        const { status, body } = await world.post('/api/load/', order, fromBrowser(HERE));
        expect(status).toBe(200);
        return (body as { jobid: string }).jobid;
      };
      ids.transfer = await load(ANN, {
        destination_account: { email: 'ann@aol.example', password: ELSEWHERE, provider: 'aol' },
        operations: ['emailmigration'],
      });
      ids.export = await load(BOB, {
        destination_account: { email: 'bob@mail.example', provider: 'file_export' },
        operations: ['emailmigration', 'contactsmigration'],
        file_export_parameters: { email_format: 'eml', contacts_format: 'vcf' },
      });
      const page = await new OauthBrowser(world).until('/api/oauth/?provider=yahoo', isPage);
      ids.token = page.searchParams.get('token_id') ?? '';
      await world.database.query(
        `insert into dailies (source_email, transfer_id, next_run, until) values ($1, $2, now() + interval '1 day', now() + interval '9 days')`,
        [ANN, ids.transfer],
      );
      const daily = await world.safe.seal(
        `dailies/${ids.transfer}/source`,
        JSON.stringify({ kind: 'password', password: PASSWORD }),
      );
      await world.database.query(
        "insert into daily_credentials (transfer_id, role, sealed) values ($1, 'source', $2)",
        [ids.transfer, daily],
      );
    }

    {
      await using database = await openDatabase(address);
      await expect(sealingBy(database, SECOND)).rejects.toThrow(/FORMER_SECRET_KEYS/);
      await expect(sealingBy(database, SECOND, THIRD)).rejects.toThrow(SettingsError);
      for (const table of ['daily_credentials', 'export_verifiers'] as const) {
        const others = ['credentials', 'daily_credentials', 'oauth_tokens', 'export_verifiers'].filter(
          (each) => each !== table,
        );
        const refused = database.transaction(async (sql) => {
          for (const each of others) await sql.query(`delete from ${each}`);
          const alone: Database = { ...database, ...sql, transaction: (work) => work(sql) };
          await sealingBy(alone, SECOND);
        });
        await expect(refused, `${table} alone`).rejects.toThrow(/FORMER_SECRET_KEYS/);
      }
      const { vault } = await sealingBy(database, SECOND, THIRD, FIRST);
      const owners = (known: typeof vault) => openOwners({ database, vault: known });
      expect(await owners(vault).has(ids.transfer, HERE), 'the browser that ordered it').toBe(true);
      expect(await owners(vault).has(ids.transfer, 'b'.repeat(64))).toBe(false);
    }

    // From now on with the second key alone; the first opens nothing any more.
    await using world = await openWebWorld({ address, key: SECOND, environment });
    const { database } = world;
    await expect(sealingBy(database, FIRST)).rejects.toThrow(SettingsError);
    const { vault, safe } = await sealingBy(database, SECOND);
    const source = await openCredentials(database, safe, await storedTransfer(database, ids.transfer), 'source');
    expect(source).toEqual({ kind: 'password', password: PASSWORD });
    const [token] = await database.query<{ sealed: Uint8Array }>('select sealed from oauth_tokens where id = $1', [
      ids.token,
    ]);
    expect(await safe.open(`oauth_tokens/${ids.token}`, token?.sealed ?? new Uint8Array())).toContain('refresh');
    const [daily] = await database.query<{ sealed: Uint8Array }>('select sealed from daily_credentials');
    expect(await safe.open(`dailies/${ids.transfer}/source`, daily?.sealed ?? new Uint8Array())).toContain(PASSWORD);
    expect(await openVerifiers({ database, vault, now: Date.now }).check(BOB, PASSWORD)).toBe(true);

    world.passwords.set(ANN, PASSWORD).set(BOB, PASSWORD).set('ann@aol.example', ELSEWHERE);
    await using _worker = await startWorker({
      ...world.services,
      safe,
      queue: world.queue,
      discover: () => Promise.resolve(null),
    });
    const ended = () =>
      database.query<{ status: string }>(
        'select status from operations where transfer_id = $1 and finished is not null',
        [ids.transfer],
      );
    await expect.poll(ended, { timeout: 60_000 }).toEqual([{ status: 'completed' }]);
  });
});
