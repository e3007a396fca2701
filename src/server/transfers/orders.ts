import { randomBytes } from 'node:crypto';
import type { ExportFile, TransferStatus } from '../../contract/calls/status.ts';
import type { ContactsFormat, EmailFormat } from '../../contract/export-format.ts';
import type { Operation } from '../../contract/operation.ts';
import type { Provider } from '../../contract/provider.ts';
import { exportStanding } from '../export/download/links.ts';
import { queueNotification } from '../notifications/outbox.ts';
import { Refusal } from '../web/refusal.ts';
import type { Database } from '../store/database.ts';
import {
  completedTransfer,
  insertCredentials,
  insertTransfer,
  runningTransfer,
  statusOf,
  type Transfer,
} from './operations.ts';
import type { Safe } from '../store/safe.ts';
import type { Vault } from '../store/vault.ts';
import { destroyCredentials, sealOrder } from './credentials.ts';
import type { JobQueue } from '../worker/queue.ts';

/** What a subscriber has ordered. `imap` is `host` or `host:port`. The destination has a password or a token, an export neither. */
export type TransferOrder = {
  readonly source: {
    readonly email: string;
    readonly password: string;
    readonly provider: Provider;
    readonly imap?: string;
  };
  readonly destination: {
    readonly email: string;
    readonly provider: Provider;
    readonly imap?: string;
    readonly password?: string;
    readonly tokenId?: string;
  };
  readonly operations: readonly Operation[];
  readonly emailFormat?: EmailFormat;
  readonly contactsFormat?: ContactsFormat;
  readonly notificationContact?: string;
  readonly inQa: boolean;
};

export type Transfers = {
  /**
   * Queues a transfer and answers at once. The same order as the one that runs is that one; so is one that has
   * completed within the last minute, or with the same token: an answer got lost, or a button was pressed twice.
   * `usesToken` tells whether the order's token is the one that the transfer works with.
   * @throws {Refusal} 409 when the source is being moved somewhere else.
   */
  start(order: TransferOrder): Promise<{ id: string; usesToken: boolean }>;
  /**
   * The transfer that an order has become whose token is forgotten by now: one that completed with this very token, or
   * the one that runs and had no use for it.
   */
  startedBefore(order: TransferOrder): Promise<{ id: string } | null>;
  /** `null` when there is no such transfer. */
  status(id: string): Promise<TransferStatus | null>;
};

const SAME_WITHIN_SECONDS = 60;
/** SQLSTATE of a unique index that says no. */
const UNIQUE_VIOLATION = '23505';
const START_TRIES = 3;

type Services = {
  readonly database: Database;
  readonly vault: Vault;
  readonly safe: Safe;
  readonly queue: JobQueue;
  /** What can be downloaded of a transfer. */
  readonly exportFiles: (id: string) => Promise<ExportFile[]>;
  /** 16 random bytes; a test may give its own. */
  readonly random?: () => Buffer;
};

export function openTransfers({
  database,
  vault,
  safe,
  queue,
  exportFiles,
  random = () => randomBytes(16),
}: Services): Transfers {
  async function insert(order: TransferOrder, submitKey: string): Promise<string> {
    const transfer = transferOf(random().toString('hex'), order);
    const { id, notificationContact } = transfer;
    const sealed = await sealOrder(safe, id, order);
    try {
      await database.transaction(async (sql) => {
        await insertTransfer(sql, transfer, submitKey);
        for (const credentials of sealed) await insertCredentials(sql, id, credentials.role, credentials.secret);
        if (notificationContact !== undefined) await queueNotification(sql, id, 'started', notificationContact);
        await queue.send(id, { sql });
      });
    } catch (error) {
      await destroyCredentials(safe, id);
      throw error;
    }
    return id;
  }

  return {
    start: async (order) => {
      const submitKey = submitKeyOf(order, vault);
      for (let attempt = 1; ; attempt += 1) {
        const running = await runningTransfer(database, order.source.email);
        if (running !== null) {
          if (isSameOrder(running.submitKey, submitKey))
            return { id: running.id, usesToken: running.submitKey === submitKey };
          throw new Refusal(
            409,
            'MIGRATION_IN_PROGRESS',
            'A transfer of this account is already running. Your mail is safe. Please wait until it has ended.',
          );
        }
        const completed = await completedTransfer(database, submitKey);
        if (
          completed !== null &&
          (order.destination.tokenId !== undefined || completed.secondsAgo < SAME_WITHIN_SECONDS)
        )
          return { id: completed.id, usesToken: false };
        try {
          return { id: await insert(order, submitKey), usesToken: true };
        } catch (error) {
          // Another submit of the same account was faster.
          if ((error as { code?: unknown }).code !== UNIQUE_VIOLATION || attempt >= START_TRIES) throw error;
        }
      }
    },
    startedBefore: async (order) => {
      if (order.destination.tokenId === undefined) return null;
      const submitKey = submitKeyOf(order, vault);
      const running = await runningTransfer(database, order.source.email);
      if (running !== null && isSameOrder(running.submitKey, submitKey)) return { id: running.id };
      const completed = await completedTransfer(database, submitKey);
      return completed === null ? null : { id: completed.id };
    },
    status: async (id) => {
      // Asked first: an export that was finished by then and has no files afterwards has none any more.
      const standing = await exportStanding(database, id);
      const status = await statusOf(database, id);
      if (status === null || standing === null) return status;
      const exports = await exportFiles(id);
      if (exports.length > 0) return { ...status, files: 'there', exports };
      return { ...status, files: standing === 'finished' ? 'deleted' : 'coming' };
    },
  };
}

function transferOf(id: string, order: TransferOrder): Transfer {
  const { source, destination } = order;
  return {
    id,
    sourceEmail: source.email,
    sourceProvider: source.provider,
    destinationEmail: destination.email,
    destinationProvider: destination.provider,
    operations: order.operations,
    inQa: order.inQa,
    ...(source.imap === undefined ? {} : { sourceImap: source.imap }),
    ...(destination.imap === undefined ? {} : { destinationImap: destination.imap }),
    ...(order.emailFormat === undefined ? {} : { emailFormat: order.emailFormat }),
    ...(order.contactsFormat === undefined ? {} : { contactsFormat: order.contactsFormat }),
    ...(order.notificationContact === undefined ? {} : { notificationContact: order.notificationContact }),
  };
}

/** Digests of what was ordered, passwords left out, and of the token that it came with. */
function submitKeyOf(order: TransferOrder, vault: Vault): string {
  const { source, destination } = order;
  const ordered = JSON.stringify([
    [source.email, source.provider, source.imap ?? null],
    [destination.email, destination.provider, destination.imap ?? null],
    order.operations.toSorted(),
    order.emailFormat ?? null,
    order.contactsFormat ?? null,
  ]);
  return `${vault.digest('order', ordered)}.${vault.digest('token', destination.tokenId ?? '')}`;
}

/** Another sign-in at the same provider brings another token, and is still the same order. */
function isSameOrder(one: string, other: string): boolean {
  return one.split('.')[0] === other.split('.')[0];
}
