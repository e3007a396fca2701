import { setTimeout as wait } from 'node:timers/promises';
import { readSettings, type Environment } from '../../src/contract/settings.ts';
import { statusSources } from '../../src/server/main.ts';
import { openExportStore } from '../../src/server/export/storage/open-export-store.ts';
import { openJobQueue } from '../../src/server/worker/queue.ts';
import { openTransfers, type TransferOrder, type Transfers } from '../../src/server/transfers/orders.ts';
import { startWorker, type WorkerServices } from '../../src/server/worker/worker.ts';
import { openLog } from '../../src/server/log.ts';
import type { Database } from '../../src/server/store/database.ts';
import { openUncheckedCertificates } from '../../src/server/mail/imap/tls.ts';
import { openVault } from '../../src/server/store/vault.ts';
import { DOVECOT_PASSWORD } from './dovecot.ts';
import { openTestDatabase, type TestAddress } from './fresh-database.ts';
import { safeFor } from './safe.ts';

export const SUBSCRIBER = 'anna@sanbrunocable.example';
export const NEW_ADDRESS = 'anna@yahoo.example';
/** The same in all processes of a test, so that one can open what another has sealed. */
const KEY = Buffer.alloc(32, 7);

export type World = AsyncDisposable & {
  readonly database: Database;
  readonly transfers: Transfers;
  /** The tokens that have been erased. */
  readonly forgotten: string[];
  /** Makes a waiting transfer continue. */
  sendOn(id: string): Promise<void>;
};

/** The product's engine on real databases and mail servers, without its web side. Without `works`, it can only order. */
export async function openWorld(
  address: TestAddress,
  environment: Environment,
  services: Partial<WorkerServices> = {},
  works = true,
): Promise<World> {
  const settings = readSettings({
    SANDBOX: 'on',
    TRUSTED_MAIL_HOSTS: '127.0.0.1',
    LOG_LEVEL: 'silent',
    ...environment,
  });
  const database = await openTestDatabase(address);
  const vault = openVault(KEY);
  const safe = await safeFor(address, vault);
  const log = openLog(settings.logLevel);
  const queue = await openJobQueue({ database, log });
  const transfers = openTransfers({
    database,
    vault,
    safe,
    queue,
    sources: statusSources({ database, settings, now: () => Date.now() }),
  });
  const forgotten: string[] = [];
  const worker: WorkerServices = {
    database,
    vault,
    safe,
    settings,
    log,
    queue,
    transfers,
    tokens: {
      accessToken: async (id) => id,
      keep: async () => {},
      expire: async () => {},
      forget: async (id) => {
        forgotten.push(id);
      },
      hold: async () => {},
      unhold: async () => {},
    },
    exports: openExportStore(settings),
    onUncheckedCertificate: openUncheckedCertificates(log),
    discover: async () => null,
    ...services,
  };
  const working = works ? await startWorker(worker) : undefined;
  return {
    database,
    transfers,
    forgotten,
    sendOn: async (id) => {
      await database.query('update operations set waiting_reason = null');
      await queue.send(id);
    },
    [Symbol.asyncDispose]: async () => {
      await working?.[Symbol.asyncDispose]();
      await queue[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** Moves the subscriber's mail to the new address, both with the test Dovecots' password. */
export function order(changes: Partial<TransferOrder> = {}): TransferOrder {
  return {
    source: { email: SUBSCRIBER, password: DOVECOT_PASSWORD, provider: 'sanbruno' },
    destination: { email: NEW_ADDRESS, password: DOVECOT_PASSWORD, provider: 'yahoo' },
    operations: ['emailmigration'],
    inQa: false,
    ...changes,
  };
}

type MailProgress = NonNullable<NonNullable<Awaited<ReturnType<Transfers['status']>>>['emailmigration']>;

/** Polls until the mail operation has one of the states, and checks what progress promises. `sendOn` cuts its waits short. */
export async function mailUntil(
  transfers: Transfers,
  id: string,
  states: readonly string[] = ['completed', 'review', 'authentication_error'],
  withinMs = 50_000,
  sendOn?: World['sendOn'],
): Promise<MailProgress> {
  let before: MailProgress = { status: '' };
  for (const until = Date.now() + withinMs; Date.now() < until;) {
    const progress = (await transfers.status(id))?.emailmigration;
    if (progress === undefined) throw new Error('The transfer has no mail operation.');
    for (const count of ['done', 'total', 'bytes'] as const)
      if ((progress[count] ?? 0) < (before[count] ?? 0)) throw new Error(`The count ${count} fell.`);
    if ((progress.done ?? 0) > (progress.total ?? Infinity)) throw new Error('More is done than there is.');
    if (states.includes(progress.status)) return progress;
    before = progress;
    if (progress.waiting !== undefined) await sendOn?.(id);
    await wait(25);
  }
  throw new Error(`The mail operation is still ${JSON.stringify(before)}.`);
}
