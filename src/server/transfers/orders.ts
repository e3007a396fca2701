import { randomBytes } from 'node:crypto';
import type { TransferStatus } from '../../contract/calls/status.ts';
import type { ContactsFormat, EmailFormat } from '../../contract/export-format.ts';
import type { Operation } from '../../contract/operation.ts';
import type { Provider } from '../../contract/provider.ts';
import type { News } from '../notifications/news.ts';
import type { Database, Sql } from '../store/database.ts';
import type { Safe } from '../store/safe.ts';
import type { Vault } from '../store/vault.ts';
import { destroyCredentials, insertCredentials, sealOrder } from './credentials.ts';
import { copyOwners } from './owners.ts';
import { sharedReading } from './shared-reading.ts';
import { statusOf, type StatusSources } from './status.ts';
import { newsOf } from './transfer-news.ts';
import { insertTransfer, type Transfer } from './transfer.ts';

/**
 * What a subscriber has ordered. `imap` is `host` or `host:port`. A destination has a password or a token, an export
 * neither.
 */
export type TransferOrder = {
  readonly source: {
    readonly email: string;
    readonly password: string;
    readonly provider: Transfer['sourceProvider'];
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

type Started =
  | { readonly kind: 'started'; readonly id: string; readonly usesToken: boolean }
  | { readonly kind: 'busy'; readonly id: string };

/** `anew`: a transfer that has ended doesn't count as the same order. */
type Anew = { readonly anew?: boolean };
/**
 * `like`: nobody ordered this transfer, so nobody is notified of its start; it gets the owners of the transfer with
 * this ID. `admit` runs within the transaction that stores the transfer, when no other submit for the mailbox can win
 * any more: its writes are only committed with a new transfer, and if it throws, everything is rolled back.
 */
type Starting = Anew & { readonly like?: string; readonly admit?: (sql: Sql) => Promise<void> };

/**
 * Someone who has proved an address at a provider; `persons` are digests of the account with the current key and the
 * former ones.
 */
type AddressOwner = { readonly email: string; readonly persons: readonly string[] };

export type Transfers = {
  /**
   * Queues a transfer and answers at once. If the same order is running, the answer is that transfer, whose news go to
   * the new contact from then on. The answer is also one that has completed within the last minute, or with the same
   * token: an answer got lost, or a button was pressed twice.
   * `usesToken` tells whether the order's token is the one that the transfer works with.
   * `busy`: the transfer of that ID moves the source somewhere else, or is being stopped.
   */
  start(order: TransferOrder, options?: Starting): Promise<Started>;
  /**
   * The transfer that came from an order whose token has been erased since: one that completed with this very token, or
   * the running one, which had no use for it.
   */
  startedBefore(order: TransferOrder): Promise<{ id: string } | null>;
  /** The transfer that is reading from a mailbox, if any. */
  running(sourceEmail: string): Promise<{ id: string } | null>;
  /**
   * The last move to Yahoo that has ended. `isCompleted` unless it failed or was stopped, or any move has been taken
   * back since it was ordered: a later move that copied nothing doesn't make up for that. `id` is that of the last one
   * that copied mail.
   */
  lastMove(sourceEmail: string): Promise<{ readonly id: string; readonly isCompleted: boolean } | null>;
  /** `null` if there is no such transfer. */
  status(id: string): Promise<TransferStatus | null>;
  /** The contents of a letter; `null` if there is no such transfer, or nobody to notify. */
  readonly news: (id: string) => Promise<News | null>;
  /**
   * The newest transfers to a proved address, newest first. Exports, and transfers to a server that the visitor named,
   * are left out, because they can name any address; one ordered with a sign-in at a provider is only listed for the
   * same person.
   */
  newestTo(owner: AddressOwner, atMost: number): Promise<{ id: string; created: Date }[]>;
};

const SAME_WITHIN_SECONDS = 60;
/** SQLSTATE for the violation of a unique index. */
const UNIQUE_VIOLATION = '23505';
const START_TRIES = 3;

/** What an order needs from the job queue, in the transaction that stores it. */
type Queue = {
  readonly send: (transferId: string, options: { sql: Sql }) => Promise<void>;
  readonly announce: (transferId: string, kind: 'started', options: { sql: Sql }) => Promise<void>;
};

type Services = {
  readonly database: Database;
  readonly vault: Vault;
  readonly safe: Safe;
  readonly queue: Queue;
  readonly sources: StatusSources;
  /** Returns 16 random bytes; tests may pass their own. */
  readonly random?: () => Buffer;
};

export function openTransfers({
  database,
  vault,
  safe,
  queue,
  sources,
  random = () => randomBytes(16),
}: Services): Transfers {
  async function insert(order: TransferOrder, submitKey: string, { like, admit }: Starting): Promise<string> {
    const transfer = orderedTransfer(random().toString('hex'), order, like !== undefined);
    const { id, notificationContact } = transfer;
    const sealed = await sealOrder(safe, transfer, order);
    try {
      await database.transaction(async (sql) => {
        await insertTransfer(sql, transfer, submitKey, order.destination.tokenId);
        await admit?.(sql);
        for (const credentials of sealed) await insertCredentials(sql, id, credentials.role, credentials.secret);
        if (like !== undefined) await copyOwners(sql, like, id);
        else if (notificationContact !== undefined) await queue.announce(id, 'started', { sql });
        await queue.send(id, { sql });
      });
    } catch (error) {
      await destroyCredentials(safe, id);
      throw error;
    }
    return id;
  }

  /**
   * Records that a running transfer was ordered again: it notifies the contact that was named last. An order for what
   * is new names none, so it replaces none.
   */
  async function noteAnotherOrder(
    id: string,
    { notificationContact }: TransferOrder,
    { like, admit, anew = false }: Starting,
  ): Promise<void> {
    if (like !== undefined) return;
    const contact = anew ? 'coalesce(notification_contact, $2)' : 'coalesce($2, notification_contact)';
    await database.transaction(async (sql) => {
      const changed = await sql.query(
        `update transfers set by_itself = false, notification_contact = ${contact}
         where id = $1 and finished is null and (by_itself or notification_contact is distinct from ${contact}) returning 1`,
        [id, notificationContact ?? null],
      );
      if (changed.length > 0) await admit?.(sql);
    });
  }

  /** The transfer that already exists for a submit. */
  async function standing(order: TransferOrder, submitKey: string, { anew = false }: Anew): Promise<Started | null> {
    const running = await runningTransfer(database, order.source.email);
    if (running !== null) {
      // A transfer that is being stopped does not serve a new order.
      if (running.isStopping || !isSameOrder(running.submitKey, submitKey)) return { kind: 'busy', id: running.id };
      return { kind: 'started', id: running.id, usesToken: running.submitKey === submitKey };
    }
    const completed = anew ? null : await completedTransfer(database, submitKey);
    if (
      completed !== null &&
      (order.destination.tokenId !== undefined || Math.abs(completed.secondsAgo) < SAME_WITHIN_SECONDS)
    )
      return { kind: 'started', id: completed.id, usesToken: false };
    return null;
  }

  return {
    start: async (order, options = {}) => {
      const submitKey = submitKeyOf(order, vault);
      for (let attempt = 1; ; attempt += 1) {
        const before = await standing(order, submitKey, options);
        if (before?.kind === 'started') await noteAnotherOrder(before.id, order, options);
        if (before !== null) return before;
        try {
          return { kind: 'started', id: await insert(order, submitKey, options), usesToken: true };
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
      if (running !== null && !running.isStopping && isSameOrder(running.submitKey, submitKey))
        return { id: running.id };
      const completed = await completedTransfer(database, submitKey);
      return completed === null ? null : { id: completed.id };
    },
    running: async (sourceEmail) => {
      const running = await runningTransfer(database, sourceEmail);
      return running === null ? null : { id: running.id };
    },
    lastMove: async (sourceEmail) => {
      const [last] = await database.query<{ id: string; isCompleted: boolean }>(
        `with moves as (select id, created, finished, by_itself from transfers
           where source_email = $1 and destination_provider = 'yahoo' and finished is not null),
         last as (select * from moves order by finished desc limit 1)
         select coalesce(
             (select m.id from moves m where not by_itself and exists (select 1 from ledger_mailboxes b
               join ledger l on l.mailbox_id = b.id where b.transfer_id = m.id and not l.earlier)
               order by m.finished desc limit 1), last.id) as id,
           not exists (select 1 from operations o where o.transfer_id = last.id and o.status <> 'completed')
             and not exists (select 1 from take_backs b join moves m on m.id = b.transfer_id
               where b.asked >= last.created or b.transfer_id = last.id) as "isCompleted"
         from last`,
        [sourceEmail],
      );
      return last ?? null;
    },
    // Shared, because it counts all messages of a transfer, and anyone who knows its ID may ask.
    status: sharedReading((id) => statusOf(database, sources, id)),
    news: (id) => newsOf(database, sources, id),
    newestTo: ({ email, persons }, atMost) =>
      database.query(
        `select id, created from transfers
         where destination_email = $1 and destination_provider <> 'file_export' and destination_imap is null and not by_itself
           and (destination_person is null or destination_person = any($2))
         order by created desc limit $3`,
        [email, persons, atMost],
      ),
  };
}

/** How many exports of a mailbox can currently be downloaded. */
export async function exportsOf(sql: Sql, sourceEmail: string): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    `select count(*)::integer as count from exports join transfers on transfers.id = transfer_id
     where source_email = $1 and exports.finished is not null and deleted is null and expires > now()`,
    [sourceEmail],
  );
  return row?.count ?? 0;
}

function orderedTransfer(id: string, order: TransferOrder, byItself: boolean): Transfer {
  const { source, destination } = order;
  return {
    id,
    sourceEmail: source.email,
    sourceProvider: source.provider,
    destinationEmail: destination.email,
    destinationProvider: destination.provider,
    operations: order.operations,
    inQa: order.inQa,
    ...(byItself ? { byItself } : {}),
    ...(destination.imap === undefined ? {} : { destinationImap: destination.imap }),
    ...(order.emailFormat === undefined ? {} : { emailFormat: order.emailFormat }),
    ...(order.contactsFormat === undefined ? {} : { contactsFormat: order.contactsFormat }),
    ...(order.notificationContact === undefined ? {} : { notificationContact: order.notificationContact }),
  };
}

/** Digests of the order without its passwords, and of the token that it came with. */
function submitKeyOf(order: TransferOrder, vault: Vault): string {
  const { source, destination } = order;
  const ordered = JSON.stringify([
    [source.email, source.provider, null],
    [destination.email, destination.provider, destination.imap ?? null],
    order.operations.toSorted(),
    order.emailFormat ?? null,
    order.contactsFormat ?? null,
  ]);
  return `${vault.digest('order', ordered)}.${vault.digest('token', destination.tokenId ?? '')}`;
}

/** An order stays the same if another sign-in at the same provider has given it another token. */
function isSameOrder(one: string, other: string): boolean {
  return one.split('.')[0] === other.split('.')[0];
}

type Running = { readonly id: string; readonly submitKey: string; readonly isStopping: boolean };

/** The transfer that is reading from this mailbox, if any. */
async function runningTransfer(sql: Sql, sourceEmail: string): Promise<Running | null> {
  const [row] = await sql.query<Running>(
    `select id, submit_key as "submitKey", stop_asked is not null as "isStopping"
     from transfers where source_email = $1 and finished is null`,
    [sourceEmail],
  );
  return row ?? null;
}

/**
 * The newest transfer from the same order that completed all its operations, and how long ago it ended: negative if the
 * database's clock was ahead then. Not one that was taken back, or whose files were deleted.
 */
async function completedTransfer(sql: Sql, submitKey: string): Promise<{ id: string; secondsAgo: number } | null> {
  const [row] = await sql.query<{ id: string; seconds_ago: number }>(
    `select id, extract(epoch from now() - finished)::float8 as seconds_ago from transfers t
     where submit_key = $1 and finished is not null
       and not exists (select 1 from operations o where o.transfer_id = t.id and o.status <> 'completed')
       and not exists (select 1 from take_backs b where b.transfer_id = t.id)
       and not exists (select 1 from exports e where e.transfer_id = t.id and e.deleted is not null)
     order by created desc limit 1`,
    [submitKey],
  );
  return row === undefined ? null : { id: row.id, secondsAgo: row.seconds_ago };
}
