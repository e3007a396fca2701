import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { stopTransfer } from '../../src/server/transfers/stopping.ts';
import { SealError } from '../../src/server/store/vault.ts';
import { startWorker } from '../../src/server/worker/worker.ts';
import { startDovecot } from '../support/dovecot.ts';
import { layFreshDatabase } from '../support/fresh-database.ts';
import { openMailClient } from '../support/mail-client.ts';
import { letter } from '../support/mail-letters.ts';
import { needs } from '../support/needs.ts';
import { isPage, OauthBrowser } from '../support/oauth-browser.ts';
import { LEGACY_DOMAIN, openWebWorld, type WebWorld } from '../support/web-world.ts';

const SOURCE = 'canary-of-the-source-8c1f6e2b';
const DESTINATION = 'canary-of-the-destination-51d0a97e';
const WRONG = 'canary-of-a-wrong-password-e07b3c44';
const ANN = `ann@${LEGACY_DOMAIN}`;
const BEN = `ben@${LEGACY_DOMAIN}`;
const EVE = `eve@${LEGACY_DOMAIN}`;
const WITHIN_MS = 60_000;

/** The files under a folder that contain a text, by their paths. */
async function filesWith(folder: string, text: string | Buffer): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && (await readFile(path)).includes(text)) found.push(path);
  }
  return found;
}

/** What is sealed in the database, and where it belongs. */
async function sealedIn({ database }: WebWorld): Promise<{ place: string; bytes: Buffer }[]> {
  const rows = await database.query<{ place: string; sealed: Uint8Array }>(
    `select 'credentials/' || transfer_id || '/' || role as place, sealed from credentials
     union all select 'oauth_tokens/' || id, sealed from oauth_tokens`,
  );
  return rows.map(({ place, sealed }) => ({ place, bytes: Buffer.from(sealed) }));
}

/** Every row of every table, bytes as text too. */
async function rowsOf({ database }: WebWorld): Promise<string> {
  const tables = await database.query<{ name: string }>(
    `select quote_ident(schemaname) || '.' || quote_ident(tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')`,
  );
  const rows: unknown[] = [];
  for (const { name } of tables)
    for (const row of await database.query(`select * from ${name}`))
      rows.push(
        Object.values(row).map((value) =>
          value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
        ),
      );
  return JSON.stringify(rows, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}

/** The provider's tokens behind an ID, as they are sealed in the database. */
async function tokensBehind({ database, safe }: WebWorld, id: string): Promise<string[]> {
  const [row] = await database.query<{ sealed: Uint8Array }>('select sealed from oauth_tokens where id = $1', [id]);
  const opened = await safe.open(`oauth_tokens/${id}`, row?.sealed ?? new Uint8Array());
  const { refresh, access } = JSON.parse(opened) as { refresh: string; access: { mail: { token: string } } };
  return [refresh, access.mail.token];
}

const outcomes = (world: WebWorld) =>
  world.database.query<{ source_email: string; status: string }>(
    `select source_email, status from operations join transfers on id = transfer_id
     where transfers.finished is not null order by source_email`,
  );

describe('after the end of a job', { ...needs('dovecot'), timeout: 120_000 }, () => {
  test('no password and no token of it is anywhere, whether it completed or its owner stopped it while it was at rest', async () => {
    await using source = await startDovecot({ password: SOURCE });
    await using destination = await startDovecot({ password: DESTINATION });
    for (const user of [ANN, BEN, EVE]) {
      await using mail = await openMailClient(source.port, user, SOURCE);
      await mail.append('INBOX', [letter(1), letter(2)]);
    }
    const folder = await mkdtemp(join(tmpdir(), 'secrets-'));
    await layFreshDatabase(folder);
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const temporary = await mkdtemp(join(tmpdir(), 'secrets-temporary-'));
    onTestFinished(() => rm(temporary, { recursive: true, force: true }));
    const signedInWith: string[] = [];
    const stack = new AsyncDisposableStack();
    onTestFinished(() => stack.disposeAsync());
    const world = stack.use(
      await openWebWorld({
        providers: ['yahoo'],
        address: { folder: join(folder, 'database') },
        environment: {
          DATA_DIR: folder,
          LOG_LEVEL: 'trace',
          LEGACY_IMAP_URL: source.url,
          AOL_IMAP_URL: destination.url,
          TRUSTED_MAIL_HOSTS: '127.0.0.1',
        },
        takesToken: (_email, token) => {
          signedInWith.push(token);
          return true;
        },
      }),
    );
    vi.stubEnv('TMPDIR', temporary);
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    if (world.providers.yahoo !== undefined) world.providers.yahoo.person.email = ANN;

    const answers: string[] = [];
    const browser = new OauthBrowser(world);
    const load = async (email: string, account: object) => {
      const { status, text, headers } = await world.post(
        '/api/load/',
        {
          source_account: { email, password: SOURCE, provider: 'sanbruno' },
          destination_account: account,
          operations: ['emailmigration'],
          parameters: {},
        },
        browser.headers,
      );
      answers.push(text, JSON.stringify([...headers]));
      expect([email, status]).toEqual([email, 200]);
    };
    const page = await browser.until('/api/oauth/?provider=yahoo', isPage);
    const tokenId = page.searchParams.get('token_id') ?? '';
    const first = await tokensBehind(world, tokenId);
    world.advance(3_600_000);
    await world.services.tokens.accessToken(tokenId);
    const renewed = await tokensBehind(world, tokenId);
    expect(new Set([...first, ...renewed]).size).toBe(4);
    await load(ANN, { email: ANN, provider: 'yahoo', token_id: tokenId });
    await load(BEN, { email: 'ben@aol.example', provider: 'aol', password: DESTINATION });
    // The password was right when it was proven, and is not any more.
    await world.services.transfers.start({
      source: { email: EVE, password: SOURCE, provider: 'sanbruno' },
      destination: { email: 'eve@aol.example', provider: 'aol', password: WRONG },
      operations: ['emailmigration'],
      inQa: false,
    });
    const sealed = await sealedIn(world);
    expect(sealed.length).toBe(7);
    for (const { place, bytes } of sealed) expect(await world.safe.open(place, bytes)).not.toBe('');
    const keys = await readdir(join(folder, 'keys'));
    expect(keys.length).toBe(7);

    const worker = stack.use(
      await startWorker({
        ...world.services,
        safe: world.safe,
        queue: world.queue,
        discover: () => Promise.resolve(null),
      }),
    );
    await expect
      .poll(() => world.database.query('select 1 from operations where attention_since is not null'), {
        timeout: WITHIN_MS,
      })
      .toHaveLength(1);
    const [atRest] = await world.database.query<{ id: string }>('select id from transfers where source_email = $1', [
      EVE,
    ]);
    expect(await stopTransfer({ ...world.services, safe: world.safe }, atRest?.id ?? '', wait)).toBe(true);
    await expect.poll(() => outcomes(world), { timeout: WITHIN_MS }).toHaveLength(3);
    await worker[Symbol.asyncDispose]();
    expect(await outcomes(world)).toEqual([
      { source_email: ANN, status: 'completed' },
      { source_email: BEN, status: 'completed' },
      { source_email: EVE, status: 'review' },
    ]);

    expect(await world.database.query('select * from credentials')).toEqual([]);
    expect(await world.database.query('select * from oauth_tokens')).toEqual([]);
    expect([...new Set(signedInWith)]).toEqual([renewed[1]]);
    const canaries = [SOURCE, DESTINATION, WRONG, ...first, ...renewed];
    expect(canaries.every((canary) => canary.length > 20)).toBe(true);
    const ids = await world.database.query<{ id: string }>('select id from transfers');
    for (const { id } of ids) answers.push((await world.get(`/api/v2/status/?job_id=${id}`)).text);
    const places = {
      log: world.logLines.join(''),
      answers: answers.join('\n'),
      rows: await rowsOf(world),
    };
    // What is looked for would be found.
    expect(places.log).toContain('a transfer has ended');
    expect(places.rows).toContain(ANN);
    expect(await filesWith(folder, ANN)).not.toEqual([]);
    for (const canary of canaries) {
      for (const [place, text] of Object.entries(places))
        expect(text.includes(canary), `${canary} in the ${place}`).toBe(false);
      expect(await filesWith(folder, canary)).toEqual([]);
      expect(await filesWith(temporary, canary)).toEqual([]);
    }
    await stack.disposeAsync();
    expect(await filesWith(folder, EVE), 'after the database has written everything').not.toEqual([]);
    for (const canary of canaries) expect(await filesWith(folder, canary)).toEqual([]);

    // The database still has in its files what it deleted, and nothing opens that any more.
    const kept = await Promise.all(sealed.map(({ bytes }) => filesWith(folder, bytes)));
    expect(kept.flat()).not.toEqual([]);
    expect(await readdir(join(folder, 'keys'))).toEqual([]);
    for (const { place, bytes } of sealed) await expect(world.safe.open(place, bytes)).rejects.toThrow(SealError);
  });
});
