import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { buildPortal, PortalUnbuilt } from '../../src/build-portal.ts';
import { type Environment, SettingsError } from '../../src/contract/settings.ts';
import { settingsFrom } from '../../src/read-settings.ts';
import { AddressInUseError, listen } from '../../src/server/web/listening.ts';
import { IS_PROOF } from '../folders.ts';
import { createEmptyDatabase, layFreshDatabase } from '../support/fresh-database.ts';
import { freePort } from '../support/free-port.ts';
import { startHttpListener } from '../support/http-listener.ts';
import { needs } from '../support/needs.ts';
import { command } from '../support/postgres.ts';
import { S3_KEYS, startS3Server } from '../support/s3-server.ts';
import { PAGES, runProduct, startProduct, startProductOnPostgres } from '../support/product.ts';
import { startCommand } from '../support/start-command.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'start-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** What the start says of settings that make no sense; that it prints this and ends, the first test shows. */
function problemsOf(environment: Environment): readonly string[] {
  try {
    settingsFrom(environment);
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
}

/** Starts the program, which is expected to end by itself. */
async function refused(environment: Record<string, string>): Promise<{ code: number | null; said: string }> {
  const { ended, output } = runProduct({ ...PAGES, DATA_DIR: join(folder, 'data'), ...environment });
  const code = await ended;
  return { code, said: output() };
}

test('no shell stands between npm and the product, where the signal to stop would end', async () => {
  const command = startCommand().replace('src/main.ts', '--print process.pid');
  const shell = spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = (await once(shell.stdout, 'data')) as [Buffer];
  expect(Number(said.toString())).toBe(shell.pid);
});

test('a signal that comes once more by way of npm, as from a terminal and systemd, does not break off the stop', async () => {
  await using product = await startProductOnPostgres();
  // Two of one kind might reach it as one.
  expect(await Promise.all([product.stop('SIGINT'), product.stop('SIGTERM')])).toEqual([0, 0]);
});

test('every setting that makes no sense is named at once, with its fault and an example, and no value', async () => {
  const { code, said } = await refused({
    PORT: 'eighty',
    SECRET_KEY: 'hunter2-canary',
    LEGACY_IMAP_URL: 'http://imap.example.com',
    ROLE: 'boss',
    EXPORTS_URL: 's3://B@d/x',
    LEGACY_NAME: 'x'.repeat(65),
  });
  expect(code).toBe(78);
  expect(said.trim().split('\n')).toEqual([
    'PORT must be a whole number from 1 to 65535. Example: PORT=8080',
    'ROLE must be all, web or worker. Example: ROLE=all',
    'SECRET_KEY must be 32 bytes in base64. Example: SECRET_KEY=$(openssl rand -base64 32)',
    "EXPORTS_URL must be a folder, or a bucket's address that starts with s3://. Example: EXPORTS_URL=s3://bucket/prefix?endpoint=https://s3.example.com&region=us-west-1",
    'LEGACY_NAME must have 64 characters at most. Example: LEGACY_NAME=San Bruno',
    'LEGACY_IMAP_URL must be an address that starts with imaps:// or imap://. Example: LEGACY_IMAP_URL=imaps://imap.example.com:993',
  ]);
});

test('a public address with more than a host is refused, and a name or password in it is not printed', () => {
  for (const address of [
    'https://user:hunter2@portal.example',
    'https://portal.example/sub',
    'https://portal.example/?a=b',
  ])
    expect(problemsOf({ PUBLIC_URL: address })).toEqual([
      'PUBLIC_URL must have nothing behind its host and port, and no name or password. Example: PUBLIC_URL=https://transfer.example.com',
    ]);
});

test('a port that none can have, and a word where a viewer is asked for, are told as such', () => {
  expect(problemsOf({ INSPECT: 'true', TRUSTED_MAIL_HOSTS: 'mail.internal:14300,mail.internal:99999' })).toEqual([
    'INSPECT must be on, off, or the address of a viewer. Example: INSPECT=on',
    'TRUSTED_MAIL_HOSTS must be hosts, each as host or host:port, separated by commas. Example: TRUSTED_MAIL_HOSTS=127.0.0.1,mail.internal:143',
  ]);
  expect(
    problemsOf({ INSPECT: 'https://stately.ai/inspect', TRUSTED_MAIL_HOSTS: '[::1]:143,mail_1.internal' }),
  ).toEqual([]);
});

test('a secret whose file can not be used is named, with what to do, and neither the file nor the secret', async () => {
  const [long, empty] = [join(folder, 'long-canary'), join(folder, 'empty-canary')];
  await writeFile(long, 'hunter2'.repeat(10_000));
  await writeFile(empty, ' \n');
  const { code, said } = await refused({
    SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
    SECRET_KEY_FILE: long,
    RECEIPT_KEY_FILE: join(folder, 'no-canary'),
    SMS_TOKEN_FILE: long,
    PROVISIONING_TOKEN_FILE: folder,
    YAHOO_CLIENT_SECRET_FILE: empty,
  });
  expect(code).toBe(78);
  expect(said.trim().split('\n')).toEqual([
    'SECRET_KEY_FILE and SECRET_KEY are both set. Keep one of them. Example: SECRET_KEY_FILE=/run/secrets/secret_key',
    "RECEIPT_KEY_FILE can't be read (ENOENT). Example: RECEIPT_KEY_FILE=/run/secrets/receipt_key",
    'PROVISIONING_TOKEN_FILE must name a file. Example: PROVISIONING_TOKEN_FILE=/run/secrets/provisioning_token',
    'SMS_TOKEN_FILE must name a file of 65536 octets at most. Example: SMS_TOKEN_FILE=/run/secrets/sms_token',
    'YAHOO_CLIENT_SECRET_FILE names a file that is empty. Example: YAHOO_CLIENT_SECRET_FILE=/run/secrets/yahoo_client_secret',
  ]);
  await writeFile(long, 'hunter2');
  const wrong = await refused({ SECRET_KEY_FILE: long });
  expect([wrong.code, wrong.said]).toEqual([
    78,
    'SECRET_KEY must be 32 bytes in base64. Example: SECRET_KEY=$(openssl rand -base64 32)\n',
  ]);
});

test('an .env that is no file is named, with what to do', async () => {
  await mkdir(join(folder, '.env'));
  const { ended, output } = runProduct({}, folder);
  expect(await ended).toBe(78);
  expect(output()).toContain('.env must be a file.');
  expect(output()).not.toContain('    at ');
});

test('a PostgreSQL that does not answer is named, and its password is not', async () => {
  const { code, said } = await refused({
    ROLE: 'worker',
    EXPORTS_URL: join(folder, 'exports'),
    DATABASE_URL: `postgres://portal:hunter2@127.0.0.1:${await freePort()}/portal`,
    SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
    LEGACY_IMAP_URL: 'imaps://imap.example.com',
  });
  // No restart mends a setting; this one may.
  expect(code).toBe(69);
  expect(said).toContain("DATABASE_URL can't be used");
  expect(said).toContain('ECONNREFUSED');
  expect(said).not.toMatch(/hunter2|    at /);
});

test(
  'a PostgreSQL that has no connection left may have one soon, at the same address',
  needs('postgresql'),
  async () => {
    const url = await createEmptyDatabase();
    await command(url, 'create role crowded login connection limit 0');
    const { code, said } = await refused({
      ROLE: 'worker',
      EXPORTS_URL: join(folder, 'exports'),
      DATABASE_URL: url.replace('//portal@', '//crowded@'),
      SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
      LEGACY_IMAP_URL: 'imaps://imap.example.com',
    });
    await command(url, 'drop role crowded');
    expect(code).toBe(69);
    expect(said).toContain('the database has no connection left');
    expect(said).not.toContain('Example:');
  },
);

test('settings that contradict each other are refused', async () => {
  const { code, said } = await refused({ SANDBOX: 'off' });
  expect(code).toBe(78);
  expect(said).toBe(
    'LEGACY_IMAP_URL is needed when the sandbox is off. Example: LEGACY_IMAP_URL=imaps://imap.example.com:993\n',
  );
});

test('a data folder that can not be written is named, with what to do', async () => {
  const file = join(folder, 'a-file');
  await writeFile(file, '');
  const { code, said } = await refused({ DATA_DIR: join(file, 'data') });
  expect(code).toBe(78);
  expect(said).toContain(`DATA_DIR ${file}/data can't be written (ENOTDIR).`);
  expect(said).not.toContain('    at ');
});

test('what can not be used within the data folder is named, with what to do', async () => {
  const data = join(folder, 'data');
  await layFreshDatabase(data);
  await writeFile(join(data, 'keys'), '');
  const { code, said } = await refused({ DATA_DIR: data, LOG_LEVEL: 'silent', PORT: String(await freePort()) });
  expect(code).toBe(78);
  expect(said).toMatch(/\/data\/keys can't be used \(EEXIST\)\. Everything in DATA_DIR must be this user's/);
  expect(said).not.toContain('    at ');
});

test.each(['192.0.2.1', 'fe80::1', 'no.such.host.invalid'])(
  'HOST=%s, which is not of this machine, is named with an example',
  async (host) => {
    await expect(listen(createHttpServer(), host, await freePort())).rejects.toThrow(AddressInUseError);
  },
);

test('a place for exports that can not be written is named, with what to do', async () => {
  const file = join(folder, 'a-file');
  await writeFile(file, '');
  const { code, said } = await refused({ EXPORTS_URL: join(file, 'exports'), LOG_LEVEL: 'silent' });
  expect(code).toBe(78);
  expect(said).toContain(
    "EXPORTS_URL can't be written (ENOTDIR). Make it writable, or name another folder or bucket. Example: EXPORTS_URL=/var/lib/portal/exports",
  );
  expect(said).not.toContain('    at ');
});

test('a bucket that can not be written is named, and its keys are not', async () => {
  await using bucket = await startHttpListener((asked, answer) => {
    asked.resume();
    answer.writeHead(403).end();
  });
  const { code, said } = await refused({
    EXPORTS_URL: `s3://exports/x?endpoint=http://127.0.0.1:${bucket.port}`,
    AWS_ACCESS_KEY_ID: 'key-canary',
    AWS_SECRET_ACCESS_KEY: 'hunter2',
    LOG_LEVEL: 'silent',
  });
  expect(code).toBe(78);
  expect(said).toContain("EXPORTS_URL can't be written (");
  expect(said).not.toMatch(/hunter2|key-canary|    at /);
});

test.each(['s3:/x', 's3://', 's3:x', 's3://B@d/x', 'S3://bucket/x', 'https://example.com/exports', 'file:///exports'])(
  'EXPORTS_URL=%s is refused, and makes no folder of that name',
  (address) => {
    expect(problemsOf({ EXPORTS_URL: address })).toEqual([
      "EXPORTS_URL must be a folder, or a bucket's address that starts with s3://. Example: EXPORTS_URL=s3://bucket/prefix?endpoint=https://s3.example.com&region=us-west-1",
    ]);
  },
);

test('a port that is taken is named, with another to try', { tags: 'proof' }, async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  await layFreshDatabase(join(folder, 'data'));
  try {
    const { code, said } = await refused({ PORT: String(port), LOG_LEVEL: 'silent' });
    expect(code).toBe(78);
    expect(said).toContain(`PORT ${port} is already in use.`);
    // It would be the sandbox's, if the product has the port.
    expect(said).not.toContain(`PORT=${port + 1}`);
    expect(said).not.toContain('    at ');
  } finally {
    other.close();
  }
});

test('a portal that can not be built is told in a sentence, and what a killed start has left of one goes', async () => {
  const dist = join(import.meta.dirname, '../../dist');
  await mkdir(dist, { recursive: true });
  const left = await mkdtemp(join(dist, 'unfinished-'));
  await utimes(left, 0, 0);
  // A build of these settings is nowhere, and Node refuses the option.
  const built = buildPortal({ LEGACY_NAME: folder.slice(-40), NODE_OPTIONS: '--no-such-option' });
  await expect(built).rejects.toThrow(PortalUnbuilt);
  expect(await readdir(dist)).not.toContain(basename(left));
});

test('a portal that an upgrade has left beside its own is served to the pages that have it', async () => {
  const name = basename(folder);
  const earlier = join(import.meta.dirname, `../../dist/portal-${name}`);
  await mkdir(join(earlier, 'assets'), { recursive: true });
  try {
    await writeFile(join(earlier, `assets/${name}.js`), 'earlier');
    await using product = await startProductOnPostgres();
    expect(await (await fetch(`${product.url}/assets/${name}.js`)).text()).toBe('earlier');
  } finally {
    await rm(earlier, { recursive: true });
  }
});

test('the sandbox leaves the port for health checks to them', { tags: 'proof' }, async () => {
  const data = join(folder, 'data');
  await layFreshDatabase(data);
  const port = await freePort();
  await using product = await startProduct({ DATA_DIR: data, PORT: `${port}`, HEALTH_PORT: `${port + 1}` });
  expect(await (await fetch(`http://127.0.0.1:${port + 1}/healthz`)).json()).toEqual({ ok: true });
  expect((await fetch(product.sandboxUrl)).status).toBe(200);
});

test('a second process is kept out of the data folder of the first', async () => {
  const data = join(folder, 'data');
  await layFreshDatabase(data);
  const port = await freePort();
  await using first = await startProduct({ DATA_DIR: data, PORT: String(port) });
  const { code, said } = await refused({ DATA_DIR: data, PORT: String(await freePort()) });
  expect(code).toBe(78);
  expect(said).toMatch(/DATA_DIR \S+ is in use by another process\./);
  expect((await fetch(first.url)).status).toBe(200);
});

test(
  'the product stops gracefully on SIGTERM and starts again after kill -9 in the same data folder',
  { tags: 'sampled' },
  async () => {
    const data = join(folder, 'data');
    // Else its first start is one in an empty folder.
    if (!IS_PROOF) await layFreshDatabase(data);
    const first = await startProduct({ DATA_DIR: data, PORT: String(await freePort()) });
    await first.kill();
    const left = join(data, 'keys', 'of-a-transfer-that-had-just-ended');
    await writeFile(left, 'x'.repeat(32));
    const second = await startProduct({ DATA_DIR: data, PORT: String(await freePort()) });
    await expect(readFile(left)).rejects.toThrow('ENOENT');
    expect(await second.stop()).toBe(0);
    // Of the embedded defaults nobody is warned.
    expect(first.output() + second.output()).not.toContain('"level":40');
  },
);

test('a bucket that can be written is taken, and nothing is left in it', { tags: 'proof' }, async () => {
  await using server = await startS3Server();
  await using product = await startProduct({ EXPORTS_URL: server.url, ...S3_KEYS });
  expect((await fetch(`${product.url}/readyz`)).status).toBe(200);
  expect(await server.keys()).toEqual([]);
});
