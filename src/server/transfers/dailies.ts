import type { Daily } from '../../contract/calls/status.ts';
import type { Log } from '../log.ts';
import type { Database, Sql } from '../store/database.ts';
import type { Safe } from '../store/safe.ts';
import { SealError } from '../store/vault.ts';
import { orderAgain } from './again.ts';
import { credentialsIfAny, openSecret, resealRoles, ROLES, sealSecret, type Role, type Secret } from './credentials.ts';
import { forwardingOf } from './forwardings.ts';
import type { Transfers } from './orders.ts';
import { betweenSameAccounts, transferById, type Transfer } from './transfer.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/**
 * The most days that a daily, which transfers new mail once a day, can last. It can then be switched on again, with a
 * new sign-in.
 */
export const DAILY_DAYS = 60;
/** How long before access ends the last run starts, so that it can finish in time. */
const LAST_RUN_BEFORE_MS = 3 * HOUR_MS;
/** No run is due later than a day from now: what is, was written by a clock that was ahead. */
const AHEAD_AFTER_MS = 2 * DAY_MS;
/** When to try again if a transfer of the mailbox is running. */
const LOOK_AGAIN_MS = HOUR_MS;
/** After how many incomplete runs in a row a daily is switched off. */
const FAILURES_AT_MOST = 3;

type Dailies = {
  readonly database: Database;
  readonly safe: Safe;
  readonly tokens: {
    hold(tokenId: string, until: number, sql: Sql): Promise<void>;
    unhold(tokenId: string, sql: Sql): Promise<void>;
    expire(tokenId: string, sql: Sql): Promise<void>;
    forget(tokenId: string): Promise<void>;
  };
};
/** What it takes to switch a daily off. */
type LettingGo = Omit<Dailies, 'tokens'> & { readonly tokens: Omit<Dailies['tokens'], 'hold'> };
type Why = NonNullable<Daily['ended']>;

const placeOf = (transferId: string, role: Role) => `dailies/${transferId}/${role}`;
const placesOf = (transferId: string) => ROLES.map((role) => placeOf(transferId, role));

/**
 * SQL for the daily between the mailboxes of the transfer `this`, and for the transfer `that` for which it was switched
 * on.
 */
const BETWEEN = `transfers this join transfers that on ${betweenSameAccounts('that', 'this')}
  join dailies on dailies.transfer_id = that.id`;

/**
 * Until when a daily that is switched on now would last; `null` if access is about to end.
 * @param accessEnd ISO 8601
 * @param now milliseconds since the epoch
 */
export function dailyUntil(accessEnd: string, now: number): Date | null {
  // In whole days, so that the answer doesn't depend on the time of day.
  const atMost = Math.floor(now / DAY_MS + DAILY_DAYS) * DAY_MS;
  const until = Math.min(Date.parse(accessEnd), atMost);
  return now < until - LAST_RUN_BEFORE_MS ? new Date(until) : null;
}

/** When the run after one that starts now is due; after the last run, the end of the daily. */
function nextRun(now: number, until: Date): Date {
  const last = until.getTime() - LAST_RUN_BEFORE_MS;
  if (now >= last) return until;
  return new Date(Math.min(now + DAY_MS, last));
}

/** The daily between a transfer's mailboxes, or the one that could be switched on; `null` if none can. */
export async function dailyOf(sql: Sql, accessEnd: string, now: number, id: string): Promise<Daily | null> {
  const [daily] = await sql.query<{ next: Date; until: Date; ended: Why | null }>(
    `select next_run as next, until, dailies.ended from ${BETWEEN} where this.id = $1`,
    [id],
  );
  if (daily?.ended === null) return { until: daily.until.toISOString(), next: daily.next.toISOString() };
  const [transfer] = await sql.query<{ bringsMail: boolean }>(
    `select destination_provider <> 'file_export' and 'emailmigration' = any(operations) as "bringsMail"
     from transfers where id = $1`,
    [id],
  );
  const until = dailyUntil(accessEnd, now);
  if (until === null || transfer === undefined || !transfer.bringsMail) return null;
  if ((await forwardingOf(sql, id))?.isOn === true) return null;
  return { until: until.toISOString(), ...(daily === undefined ? {} : { ended: daily.ended }) };
}

/**
 * Switches on the daily transfer of new mail, with verified credentials. Replaces an earlier daily of the mailbox.
 */
export async function switchDailyOn(
  services: Dailies,
  transfer: Transfer,
  secrets: { readonly [role in Role]: Secret },
  now: number,
  until: Date,
): Promise<void> {
  const { database, safe, tokens } = services;
  const { id, sourceEmail } = transfer;
  const { destination } = secrets;
  const tokenId = destination.kind === 'token' ? destination.tokenId : null;
  const before = await database.transaction(async (sql) => {
    // The pages of two transfers may ask for it at once.
    await sql.query("select pg_advisory_xact_lock(hashtextextended('daily ' || $1::text, 0))", [sourceEmail]);
    await sql.query('select 1 from transfers where id = $1 for update', [id]);
    await holdRunning(sql, sourceEmail);
    const [row] = await sql.query<{ transfer_id: string; token_id: string | null }>(
      'delete from dailies where source_email = $1 returning transfer_id, token_id',
      [sourceEmail],
    );
    if (row !== undefined) await safe.destroy(...placesOf(row.transfer_id));
    const isFree = row?.token_id ? await letGo(services, sql, sourceEmail, row.token_id) : false;
    if (tokenId !== null) await tokens.hold(tokenId, until.getTime() + DAY_MS, sql);
    await sql.query(
      'insert into dailies (source_email, transfer_id, next_run, until, token_id) values ($1, $2, $3, $4, $5)',
      [sourceEmail, id, nextRun(now, until), until, tokenId],
    );
    for (const role of ROLES)
      await sql.query('insert into daily_credentials (transfer_id, role, sealed) values ($1, $2, $3)', [
        id,
        role,
        await sealSecret(safe, placeOf(id, role), secrets[role], transfer),
      ]);
    return isFree ? (row?.token_id ?? null) : null;
  });
  if (before !== null && before !== tokenId) await tokens.forget(before);
}

/**
 * Switches off the daily between the mailboxes of a transfer, and erases its credentials.
 * @param why the reason to tell its owner; `null` for none
 * @returns whether it was on
 */
export async function switchDailyOff(services: LettingGo, transferId: string, why: Why | null): Promise<boolean> {
  const { database, safe, tokens } = services;
  const off = await database.transaction(async (sql) => {
    const [daily] = await sql.query<{ id: string; source_email: string; token_id: string | null }>(
      `select that.id, that.source_email, token_id from ${BETWEEN} where this.id = $1 and dailies.ended is null for update of that`,
      [transferId],
    );
    if (daily === undefined) return null;
    await holdRunning(sql, daily.source_email);
    await sql.query('delete from daily_credentials where transfer_id = $1', [daily.id]);
    if (why === null) await sql.query('delete from dailies where transfer_id = $1', [daily.id]);
    else await sql.query('update dailies set ended = $2, token_id = null where transfer_id = $1', [daily.id, why]);
    const { source_email: sourceEmail, token_id: tokenId } = daily;
    const isFree = tokenId !== null && (await letGo(services, sql, sourceEmail, tokenId));
    // Before others may seal at the same place again.
    await safe.destroy(...placesOf(daily.id));
    return isFree ? { unused: tokenId } : {};
  });
  if (off?.unused !== undefined) await tokens.forget(off.unused);
  return off !== null;
}

const RUNNING = 'select id from transfers where source_email = $1 and finished is null';

/**
 * Keeps a running transfer of the mailbox from ending before this is committed; at its end, it finds out which tokens
 * are left to it. To be called before anything of a daily is locked, because the end of a run locks in that order.
 */
async function holdRunning(sql: Sql, sourceEmail: string): Promise<void> {
  await sql.query(`${RUNNING} for share`, [sourceEmail]);
}

/**
 * Releases the tokens of a daily. The caller has to forget them after the commit; if the process dies before that, the
 * next purge erases them.
 * @returns `false` if a transfer of the mailbox works with them, and erases them when it ends
 */
async function letGo(
  { safe, tokens }: Pick<LettingGo, 'safe' | 'tokens'>,
  sql: Sql,
  sourceEmail: string,
  tokenId: string,
): Promise<boolean> {
  await tokens.unhold(tokenId, sql);
  // A run that was just being begun has been waited for: it is stored by now, and ends after this.
  const [running] = await sql.query<{ id: string }>(RUNNING, [sourceEmail]);
  const secret = running === undefined ? null : await credentialsIfAny(sql, safe, running.id, 'destination');
  if (secret?.kind === 'token' && secret.tokenId === tokenId) return false;
  await tokens.expire(tokenId, sql);
  return true;
}

/** Whether a daily holds these tokens: they are erased as soon as it goes off. */
export async function isOfDaily(sql: Sql, tokenId: string): Promise<boolean> {
  const found = await sql.query('select 1 from dailies where token_id = $1 and ended is null', [tokenId]);
  return found.length > 0;
}

/** Whether the daily between the mailboxes of a transfer was switched off because of a failure, not by its owner. */
export async function dailyHasEnded(sql: Sql, transferId: string): Promise<boolean> {
  const ended = await sql.query(`select 1 from ${BETWEEN} where this.id = $1 and dailies.ended is not null`, [
    transferId,
  ]);
  return ended.length > 0;
}

/** SQL for the order in which transfers of a mailbox were begun, whatever their clocks said. */
const orderOf = (run: string) => `(select coalesce(max(id), 0) from ledger_mailboxes where transfer_id = ${run}.id)`;

/**
 * SQL for whether a run was not completed only because of what the transfer before it had found, too: messages that are
 * not the same, or there twice. No later run can mend that, and the people concerned have been told.
 */
const findsOldOnly = (run: string) => `exists (
  select 1 from operations op join lateral (
    select before.* from transfers other
      join operations before on before.transfer_id = other.id and before.operation = op.operation
    where other.id <> ${run}.id and other.finished is not null and ${orderOf('other')} < ${orderOf(run)}
      and ${betweenSameAccounts('other', run)}
    order by ${orderOf('other')} desc, other.created desc limit 1) before on true
  where op.transfer_id = ${run}.id and op.operation = 'emailmigration' and op.status = 'review' and op.lost = 0
    and op.duplicated <= before.duplicated and op.changed <= before.changed
    and not exists (select 1 from ledger_mailboxes m join ledger l on l.mailbox_id = m.id
      where m.transfer_id = op.transfer_id and l.fate = 'changed' and not l.earlier)
    and not exists (select 1 from operations other where other.transfer_id = op.transfer_id
      and other.operation <> op.operation and other.status <> 'completed')
    and not exists (select 1 from ledger_mailboxes where transfer_id = op.transfer_id and reason is not null))`;

export async function isOldNews(sql: Sql, transferId: string): Promise<boolean> {
  const found = await sql.query(`select 1 from transfers run where run.id = $1 and ${findsOldOnly('run')}`, [
    transferId,
  ]);
  return found.length > 0;
}

/** Records how a run of a daily ended. @returns whether too many in a row have failed to complete */
export async function countDailyRun(sql: Sql, transferId: string, completed: boolean): Promise<boolean> {
  const [row] = await sql.query<{ failures: number }>(
    `update dailies set failures = case when $2 then 0 else failures + 1 end
     where transfer_id in (select that.id from ${BETWEEN} where this.id = $1) returning failures`,
    [transferId, completed],
  );
  return (row?.failures ?? 0) >= FAILURES_AT_MOST;
}

/** The daily was switched off before its run was stored. */
class SwitchedOff extends Error {
  override name = 'SwitchedOff';
}

type Starting = Dailies & { readonly log: Log; readonly transfers: Pick<Transfers, 'start' | 'running'> };

/**
 * Starts the runs that are due. However many workers look at the same time, only one of them starts each run.
 * @param now milliseconds since the epoch
 */
export async function startDailies(services: Starting, now: number): Promise<void> {
  const due = await services.database.query<{ email: string }>(
    `select source_email as email from dailies where ended is null and ${isDue('$1', '$2')}`,
    [new Date(now), new Date(now + AHEAD_AFTER_MS)],
  );
  for (const { email } of due)
    await startDaily(services, email, now).catch((error: unknown) =>
      services.log.error({ err: error }, 'a run of a daily could not be begun'),
    );
}

/**
 * SQL for whether a run is due at the time `now`. A time after `ahead` was written by a wrong clock, so the run is due
 * as well; but not twice within a day, because a process whose clock stays wrong goes on writing such times.
 */
const isDue = (now: string, ahead: string) => `(next_run <= ${now} or next_run > ${ahead} and not exists (
  select 1 from transfers run where run.by_itself and run.source_email = dailies.source_email
    and run.created > now() - interval '1 day'))`;

async function startDaily(services: Starting, sourceEmail: string, now: number): Promise<void> {
  const { database, transfers, log } = services;
  const [daily] = await database.query<{ id: string; until: Date }>(
    `update dailies set next_run = $4 where source_email = $1 and ended is null and ${isDue('$2', '$3')}
     returning transfer_id as id, until`,
    [sourceEmail, new Date(now), new Date(now + AHEAD_AFTER_MS), new Date(now + LOOK_AGAIN_MS)],
  );
  if (daily === undefined) return;
  const { id, until } = daily;
  if (now >= until.getTime()) {
    await switchDailyOff(services, id, null);
    return;
  }
  if ((await transfers.running(sourceEmail)) !== null) return;
  const transfer = await transferById(database, id);
  const secrets = transfer === null ? null : await secretsOf(services, transfer);
  if (transfer === null || secrets?.source?.kind !== 'password' || secrets.destination === undefined) {
    log.error({ transferId: id }, 'what a daily signs in with can not be opened, so it is off');
    await switchDailyOff(services, id, 'failed');
    return;
  }
  const order = orderAgain(transfer, secrets.source.password, secrets.destination);
  // Switching the daily off waits for this transaction to end, and then finds the run.
  const admit = async (sql: Sql) => {
    const on = await sql.query('select 1 from dailies where transfer_id = $1 and ended is null for share', [id]);
    if (on.length === 0) throw new SwitchedOff('It is not wanted any more.');
  };
  try {
    const asked = { ...order, operations: ['emailmigration'] } as const;
    const started = await transfers.start(asked, { anew: true, like: id, admit });
    // Another transfer of the mailbox has begun meanwhile; the daily's turn comes again in an hour.
    if (started.kind === 'busy') return;
  } catch (error) {
    if (error instanceof SwitchedOff) return;
    throw error;
  }
  await eraseIdleRuns(database, id);
  await database.query('update dailies set next_run = $2 where transfer_id = $1', [id, nextRun(now, until)]);
}

/** `null` if they can't be opened, for example after a change of `SECRET_KEY`. */
async function secretsOf(
  { database, safe }: Pick<Dailies, 'database' | 'safe'>,
  transfer: Transfer,
): Promise<{ readonly [role in Role]?: Secret } | null> {
  const { id } = transfer;
  const rows = await database.query<{ role: Role; sealed: Uint8Array }>(
    'select role, sealed from daily_credentials where transfer_id = $1',
    [id],
  );
  try {
    const opened: { [role in Role]?: Secret } = {};
    for (const { role, sealed } of rows) opened[role] = await openSecret(safe, placeOf(id, role), sealed, transfer);
    return opened;
  } catch (error) {
    if (error instanceof SealError) return null;
    throw error;
  }
}

/**
 * Erases runs that found nothing new once a later one has taken over their ledger, because each has one for the whole
 * mailbox. A run for which a daily was switched on stays, because the daily would be erased with it.
 */
async function eraseIdleRuns(database: Database, id: string): Promise<void> {
  await database.query(
    `delete from transfers run using transfers asked where asked.id = $1 and run.source_email = asked.source_email
       and run.by_itself and run.finished is not null and ${orderOf('run')} < (select max(${orderOf('later')})
         from transfers later join ledger_adoptions on transfer_id = later.id
         where later.by_itself and ${betweenSameAccounts('later', 'run')} and later.finished is not null)
       and (not exists (select 1 from operations where transfer_id = run.id and status <> 'completed')
         or ${findsOldOnly('run')})
       and not exists (select 1 from take_backs where transfer_id = run.id)
       and not exists (select 1 from dailies where transfer_id = run.id)
       and not exists (select 1 from ledger_mailboxes m join ledger l on l.mailbox_id = m.id
         where m.transfer_id = run.id and not l.earlier)`,
    [id],
  );
}

/** Seals the credentials of dailies again after a change of `SECRET_KEY`. */
export function resealDailies(sql: Sql, safe: Safe): Promise<void> {
  return resealRoles(sql, safe, 'daily_credentials', placeOf);
}

/** The places in the safe that currently have credentials of dailies. */
export async function placesOfDailies(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ transfer_id: string; role: Role }>('select transfer_id, role from daily_credentials');
  return rows.map(({ transfer_id: id, role }) => placeOf(id, role));
}
