import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { removeUnfinishedExport, sweepExports } from '../../src/server/export/download/sweeper.ts';
import { openExportStore } from '../../src/server/export/storage/open-export-store.ts';
import { openLog } from '../../src/server/log.ts';
import { openDatabase, type Database } from '../../src/server/store/database.ts';
import { openVault } from '../../src/server/store/vault.ts';
import { stopTransfer } from '../../src/server/transfers/stopping.ts';
import { DOVECOT_PASSWORD, startDovecot } from '../support/dovecot.ts';
import type { ExportedFiles, ExportProcess } from '../support/export-process.ts';
import { lastLine, startProcess, untilFrozen } from '../support/freezing.ts';
import { createEmptyDatabase } from '../support/fresh-database.ts';
import { openMailClient } from '../support/mail-client.ts';
import { letter } from '../support/mail-letters.ts';
import { needs } from '../support/needs.ts';
import { run } from '../support/run.ts';
import { safeFor } from '../support/safe.ts';
import { SUBSCRIBER } from '../support/transfer-world.ts';

const FOLDERS = ['INBOX', 'One', 'Two'];
const MESSAGES = 240;
const MESSAGE_OCTETS = 150_000;
/** Some of the archive is on the disk by then. */
const BEGUN_OCTETS = 5_000_000;
const SWEPT_AFTER_MS = 16 * 60_000;
const TIMEOUT_MS = 300_000;

type Place = { readonly database: Database; readonly folder: string };

const rowsOf = async ({ database }: Place, table: string) =>
  (await database.query<{ rows: number }>(`select count(*)::float8 as rows from ${table}`))[0]?.rows ?? 0;

/** Moments of an export, as they are seen from outside. */
const MOMENTS: Readonly<Record<string, (place: Place) => Promise<boolean>>> = {
  'messages are staged': async (place) => (await rowsOf(place, 'export_messages')) >= MESSAGES / 4,
  'an archive is written': async ({ folder }) => (await octetsIn(join(folder, 'exports'))) > BEGUN_OCTETS,
  'an archive is stored': async (place) => (await rowsOf(place, 'export_files')) > 0,
};

async function octetsIn(folder: string): Promise<number> {
  const sizes = (await filesIn(folder)).map((file) =>
    stat(file).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : [])).toSorted();
}

/** A mailbox, a database and a disk, and a worker on them that stands still from that moment on. */
async function frozenWhen(isNow: (place: Place) => Promise<boolean>) {
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  const source = stack.use(await startDovecot());
  const folder = await mkdtemp(join(tmpdir(), 'export-thaw-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  await using mail = await openMailClient(source.port, SUBSCRIBER, DOVECOT_PASSWORD);
  const digests: string[] = [];
  for (const [index, name] of FOLDERS.entries()) {
    if (index > 0) await mail.create(name);
    const numbers = Array.from({ length: MESSAGES / FOLDERS.length }, (_, at) => index * 1000 + at);
    await mail.append(
      name,
      numbers.map((number) => letter(number, MESSAGE_OCTETS)),
    );
    digests.push(...(await mail.read(name)).map(({ sha256 }) => sha256));
  }
  const url = await createEmptyDatabase();
  const environment = { LEGACY_IMAP_URL: source.url, DATA_DIR: folder };
  const job: ExportProcess = { database: { url }, environment };
  const settings = { url, dataDir: folder, exportsUrl: join(folder, 'exports') };
  const frozen = startProcess('export-process', job);
  const database = stack.use(await openDatabase({ url }));
  const place = { database, folder };
  for (; !(await isNow(place)); await wait(1));
  process.kill(frozen.pid, 'SIGSTOP');
  await untilFrozen(frozen.pid);
  const thaw = async () => {
    process.kill(frozen.pid, 'SIGCONT');
    await frozen.ended;
  };
  return { job, settings, place, frozen, thaw, digests: digests.toSorted() };
}

async function spoiltNothing(isNow: (place: Place) => Promise<boolean>): Promise<void> {
  const { job, place, frozen, thaw, digests } = await frozenWhen(isNow);
  const successor = startProcess('export-process', job);
  const files = (await lastLine(successor)) as ExportedFiles;
  await thaw();
  expect(await lastLine(frozen)).toEqual(files);
  const names = files.map((file) => join(place.folder, 'exports', file.export, file.name));
  expect(await filesIn(join(place.folder, 'exports'))).toEqual(names.toSorted());
  expect(await filesIn(join(place.folder, 'staging'))).toEqual([]);
  expect((await Promise.all(names.map(digestsIn))).flat().toSorted()).toEqual(digests);
}

async function leftNothing(isNow: (place: Place) => Promise<boolean>): Promise<void> {
  const { place, settings, thaw } = await frozenWhen(isNow);
  const { database } = place;
  const services = {
    database,
    exports: openExportStore(settings),
    log: openLog('silent'),
    safe: await safeFor(settings, openVault(Buffer.alloc(32, 7))),
    queue: { announce: async () => {} },
    tokens: { expire: async () => {}, forget: async () => {} },
    verifiers: { purge: async () => {} },
    now: () => Date.now() + SWEPT_AFTER_MS,
  };
  const [transfer] = await database.query<{ id: string }>('select id from transfers');
  await stopTransfer(services, transfer?.id ?? '', (milliseconds) => wait(milliseconds));
  await removeUnfinishedExport(services, transfer?.id ?? '');
  await thaw();
  for (const table of ['export_messages', 'export_files']) expect(await rowsOf(place, table)).toBe(0);
  await sweepExports(services);
  expect(await rowsOf(place, 'exports')).toBe(0);
  for (const name of ['exports', 'staging']) expect(await filesIn(join(place.folder, name))).toEqual([]);
}

test(
  'an exporting worker that is frozen, until another one has finished, spoils nothing of it',
  { ...needs('dovecot', 'postgresql', 'Linux', 'unzip'), timeout: TIMEOUT_MS },
  async () => {
    await Promise.all(Object.values(MOMENTS).map(spoiltNothing));
  },
);

test(
  'an exporting worker that is frozen, until its transfer has been stopped, leaves nothing behind',
  { ...needs('dovecot', 'postgresql', 'Linux'), timeout: TIMEOUT_MS },
  async () => {
    await Promise.all(Object.values(MOMENTS).map(leftNothing));
  },
);

/** Of the messages in an archive that can be read whole. */
async function digestsIn(archive: string): Promise<string[]> {
  await run('unzip', ['-tqq', archive]);
  const lines = String(await run('unzip', ['-p', archive, 'manifest.jsonl']))
    .trim()
    .split('\n');
  const entries = lines.map((line) => JSON.parse(line) as { type: string; sha256: string });
  return entries.flatMap(({ type, sha256 }) => (type === 'message' ? [sha256] : []));
}
