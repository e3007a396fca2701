import type { Log } from '../log.ts';
import { openSecurityLog } from '../security-log.ts';
import type { Database, Sql } from '../store/database.ts';
import type { Safe } from '../store/safe.ts';
import type { Vault } from '../store/vault.ts';
import { switchDailyOff } from './dailies.ts';
import { eraseAnnouncement } from './announcements.ts';
import { credentialsIfAny, destroyCredentials } from './credentials.ts';
import { betweenSameAccounts } from './transfer.ts';

const DAY_MS = 24 * 3_600_000;
const ERASED_AT_ONCE = 50;
/**
 * Transfers are erased together only up to about so many messages: fifty with 60,000 each took 83 s, too long for one
 * statement.
 */
const MESSAGES_AT_ONCE = 100_000;
const NOBODY = 'erased@erased.invalid';

/**
 * Erases transfers that ended `retentionDays` ago, with everything that is known about them: messages, contacts,
 * letters, browsers. It spares transfers whose files haven't been deleted yet, whose daily is on or has had a run
 * since, or that are being taken back, and those whose ledger a new order between the same mailboxes has yet to adopt.
 * @returns how many were erased.
 */
export async function eraseEnded(database: Database, retentionDays: number, now: number): Promise<number> {
  const before = new Date(now - retentionDays * DAY_MS);
  return database.transaction(async (sql) => {
    const erased = await sql.query<{ id: string }>(
      `with due as materialized
       (select id from transfers where finished < $1 and not exists
         (select 1 from exports join export_files on export_id = exports.id where transfer_id = transfers.id)
        and not exists (select 1 from dailies where transfer_id = transfers.id and ended is null)
        and (by_itself or not exists (select 1 from transfers run where run.by_itself
          and coalesce(run.finished, now()) >= $1 and ${betweenSameAccounts('run', 'transfers')}))
        and not exists (select 1 from take_backs where transfer_id = transfers.id and take_backs.finished is null)
        and not exists (select 1 from transfers later where later.finished is null
          and later.source_email = transfers.source_email and later.destination_email = transfers.destination_email
          and not exists (select 1 from ledger_adoptions where transfer_id = later.id))
        limit ${ERASED_AT_ONCE}),
       counted as
       (select id, (select coalesce(sum(greatest(done, total)), 0) from operations where transfer_id = due.id) as messages
        from due),
       summed as (select id, sum(messages) over (order by id) - messages as before from counted)
       delete from transfers where id in (select id from summed where before < ${MESSAGES_AT_ONCE})
     returning id`,
      [before],
    );
    await eraseQueued(sql, idsOf(erased));
    return erased.length;
  });
}

/** SQL for the transfers from and to an address, $1. An export may name anybody's. */
const ABOUT = `(source_email = $1 or (destination_email = $1 and destination_provider <> 'file_export'))`;

type Erasing = {
  readonly database: Database;
  readonly safe: Safe;
  readonly vault: Vault;
  readonly log: Log;
  readonly tokens: {
    forget(tokenId: string): Promise<void>;
    unhold(tokenId: string, sql: Sql): Promise<void>;
    expire(tokenId: string, sql: Sql): Promise<void>;
    release(tokenId: string): Promise<void>;
  };
  readonly exports: { remove(name: string): Promise<void> };
};

/**
 * Erases everything that is known about a subscriber at once: transfers from and to the address with their files,
 * tokens, letters and sign-ins. This ends running transfers, whichever worker has them; what has been copied stays.
 * @param email in the spelling that is stored
 * @returns how many transfers there were.
 */
export async function eraseSubscriber(services: Erasing, email: string): Promise<number> {
  const { database, safe, vault, tokens, exports } = services;
  const transfers = await database.query<{ id: string }>(
    `update transfers set epoch = epoch + 1, finished = coalesce(finished, now())
     where ${ABOUT} returning id`,
    [email],
  );
  for (const { id } of transfers) {
    await switchDailyOff(services, id, null);
    const destination = await credentialsIfAny(database, safe, id, 'destination');
    if (destination?.kind === 'token') await tokens.forget(destination.tokenId);
    for (const { name } of await database.query<{ name: string }>('select name from exports where transfer_id = $1', [
      id,
    ]))
      await exports.remove(name);
    await database.query('delete from transfers where id = $1', [id]);
    await destroyCredentials(safe, id);
  }
  for (const { id } of await database.query<{ id: string }>('select id from oauth_tokens where email = $1', [email]))
    await tokens.release(id);
  await database.query('delete from status_hashes where email = $1', [email]);
  await database.query('delete from sessions where mailbox = any($1)', [vault.digests('session mailbox', email)]);
  await database.query('delete from known_clients where mailbox = any($1)', [vault.digests('known mailbox', email)]);
  await eraseAnnouncement(database, vault, email);
  await eraseAsThird(database, email);
  await eraseQueued(database, idsOf(transfers));
  openSecurityLog(services)('subscriber erased', { mailbox: email });
  return transfers.length;
}

/** The files that {@link eraseSubscriber} would remove. */
export function filesOf(sql: Sql, email: string): Promise<{ exportName: string; name: string }[]> {
  return sql.query(
    `select exports.name as "exportName", export_files.name from export_files join exports on exports.id = export_id
       join transfers on transfers.id = transfer_id where ${ABOUT} and deleted is null`,
    [email],
  );
}

/**
 * Erases the address from other people's transfers, which may name it as notification contact or as that of an export.
 */
async function eraseAsThird(sql: Sql, email: string): Promise<void> {
  const told = await sql.query<{ id: string }>(
    'update transfers set notification_contact = null where notification_contact = $1 returning id',
    [email],
  );
  const exported = await sql.query<{ id: string }>(
    `update transfers set destination_email = '${NOBODY}'
     where destination_email = $1 and destination_provider = 'file_export' returning id`,
    [email],
  );
  // The jobs themselves belong to somebody else and must stay, so that they run, and nobody is notified twice.
  const errors = "update pgboss.job set output = null where output is not null and data->>'transferId' = any($1)";
  await onQueued(sql, errors, idsOf([...told, ...exported]));
}

/** Erases the jobs and notifications that the queue keeps of these transfers. */
async function eraseQueued(sql: Sql, transferIds: readonly string[]): Promise<void> {
  await onQueued(sql, "delete from pgboss.job where data->>'transferId' = any($1)", transferIds);
}

async function onQueued(sql: Sql, statement: string, transferIds: readonly string[]): Promise<void> {
  if (transferIds.length === 0) return;
  const [queue] = await sql.query<{ jobs: string | null }>("select to_regclass('pgboss.job')::text as jobs");
  if (queue === undefined || queue.jobs === null) return;
  await sql.query(statement, [transferIds]);
}

function idsOf(rows: readonly { readonly id: string }[]): string[] {
  return rows.map(({ id }) => id);
}
