import type {
  Attention,
  ContactCounts,
  ContactsProgress,
  Daily,
  ExportFile,
  Folder,
  Progress,
  Skipped,
  TransferStatus,
  WaitingReason,
} from '../../contract/calls/status.ts';
import type { Operation } from '../../contract/operation.ts';
import type { Provider } from '../../contract/provider.ts';
import { goesOn, SKIPPED_SHOWN, type StatusValue } from '../../contract/transfer-status.ts';
import type { Sql } from '../store/database.ts';
import { endOfRest } from './attention.ts';
import { earlierToTakeBack } from './taking-back.ts';
import { isToCome, orderedForwarding, standingForwarding } from './forwarding-status.ts';

type Arrivals = {
  readonly compared: number;
  readonly present: number;
  readonly presentTakenBack?: number;
  readonly moved: number;
  readonly copied?: number;
};

/**
 * `done` counts what is at the destination; `settled` also what was left out, and is at most `total`; `gone` what was
 * deleted at the source before it was read, which only `total` includes.
 */
export type FolderProgress = Folder & { readonly settled: number; readonly gone: number };

/** The parts of a transfer's status that come from other modules. */
export type StatusSources = {
  /** The messages that were not copied, at most `atMost`. */
  readonly skippedMessages: (id: string, atMost: number) => Promise<Skipped[]>;
  /** The progress of each folder, in the order of work. */
  readonly folders: (id: string) => Promise<FolderProgress[]>;
  /**
   * How many messages were read back and match what was sent, how many were there before, of which some may have been
   * taken back since, how many that were have been moved or deleted since, and how many were copied.
   */
  readonly arrivals: (id: string) => Promise<Arrivals>;
  /** How many messages were taken back; `null` if no take-back was ordered. */
  readonly takenBack: (
    id: string,
  ) => Promise<{ readonly removed: number; readonly goesOn: boolean; readonly remark?: string | null } | null>;
  /** Whether a transfer between the same mailboxes would copy again what was taken back. */
  readonly bringsBack: (id: string) => Promise<boolean>;
  /** Whether there is a way to notify a contact. */
  readonly canTell: (contact: string) => boolean;
  /** The daily transfer of new mail that is on or could be switched on; `null` if it can't be. */
  readonly daily: (id: string) => Promise<Daily | null>;
  readonly countSkippedMessages: (id: string) => Promise<number>;
  /** `null` if the transfer copies no contacts to an address book, like an export. */
  readonly contactCounts: (id: string) => Promise<ContactCounts | null>;
  /** Remarks about contacts that were not copied, or about all the others; at most `atMost`. */
  readonly contactRemarks: (id: string, of: 'refused' | 'others', atMost: number) => Promise<Skipped[]>;
  /** Whether a transfer's export has been finished, whatever became of its files; `null` if it is not an export. */
  readonly exportStanding: (id: string) => Promise<'unfinished' | 'finished' | null>;
  /** The files of a transfer that can be downloaded. */
  readonly exportFiles: (id: string) => Promise<ExportFile[]>;
};

/** `null` if there is no such transfer. */
export async function statusOf(sql: Sql, sources: StatusSources, id: string): Promise<TransferStatus | null> {
  // Comes before the files: if an export was finished before and has no files after, they have been deleted.
  const standing = await sources.exportStanding(id);
  const status = await progressesOf(sql, sources, id);
  if (status === null || standing === null) return status;
  // The archive may have been finished since the operations were read.
  if (status.emailmigration?.finished === undefined) return { ...status, files: 'coming' };
  const exports = await sources.exportFiles(id);
  if (exports.length > 0) return { ...status, files: 'there', exports };
  return { ...status, files: standing === 'finished' ? 'deleted' : 'coming' };
}

/** A worker that has room takes an order sooner. */
const TAKEN_WITHIN = '10 seconds';
/** A worker that has room takes over from one that has died sooner, counted from the end of that one's lease. */
const TAKEN_OVER_WITHIN = '60 seconds';

async function progressesOf(sql: Sql, sources: StatusSources, id: string): Promise<TransferStatus | null> {
  const rows = await sql.query<OperationRow>(
    `select operations.*, left_seconds - extract(epoch from now() - left_noted)::float8 as left_now, now() as asked,
       destination_provider = 'file_export' as is_export, transfers.finished is not null as has_ended,
       source_email, destination_email, destination_provider, by_itself, resumed, notification_contact as contact,
       transfers.finished is null and (epoch = 0 and created < now() - interval '${TAKEN_WITHIN}'
         or coalesce(leased_until < now() - interval '${TAKEN_OVER_WITHIN}', false)) as in_line,
       (select messages from exports where exports.transfer_id = transfers.id) as saved
     from operations join transfers on transfers.id = transfer_id where transfer_id = $1`,
    [id],
  );
  const [first] = rows;
  if (first === undefined) return null;
  const status = transferStatusOf(first, sources);
  for (const row of rows)
    switch (row.operation) {
      case 'emailmigration':
        status.emailmigration = await mailProgressOf(row, sources);
        break;
      case 'contactsmigration':
        status.contactsmigration = await contactsProgressOf(row, sources);
        break;
      case 'emailforwarding':
        status.emailforwarding = orderedForwarding(row);
    }
  const standing = isToCome(status.emailforwarding) ? null : await standingForwarding(sql, id);
  if (standing !== null) status.emailforwarding = standing;
  const daily = await sources.daily(id);
  if (daily !== null) status.daily = daily;
  // A page is told nothing more once the operations have ended, a moment before their transfer.
  if ((!first.has_ended && goesOn(status)) || first.is_export) return status;
  if (await sources.bringsBack(id)) status.brings_back = true;
  const earlier = await earlierToTakeBack(sql, id);
  return earlier === null ? status : { ...status, earlier };
}

/** The status of the transfer as a whole, without its operations. */
function transferStatusOf(row: OperationRow, sources: StatusSources): TransferStatus {
  const { source_email: from, destination_email: to } = row;
  return {
    destination: row.destination_provider,
    route: row.is_export ? { from } : { from, to },
    ...(!row.has_ended && isUntold(row, sources) ? { untold: true } : {}),
  };
}

/**
 * Whether nobody will be notified of its end. About the runs of a daily, owners are only told what needs them, and of
 * the end once they have put something right.
 */
function isUntold({ by_itself: byItself, resumed, contact }: OperationRow, { canTell }: StatusSources): boolean {
  return (byItself && resumed === 0) || contact === null || !canTell(contact);
}

/**
 * From the ledger, because a worker that died may not have written its last counts. A running worker writes its
 * progress less often than the outcome of each message, so this is capped: `copied` must not run ahead of `done`.
 */
function copiedOf(row: OperationRow, arrivals: Arrivals | null): { copied?: number } {
  const copied = row.is_export ? savedBy(row) : arrivals?.copied;
  if (copied === undefined) return {};
  const counted =
    row.is_export || row.finished !== null ? Infinity : row.done - (arrivals?.present ?? 0) - (arrivals?.moved ?? 0);
  return { copied: Math.max(0, Math.min(copied, counted)) };
}

/** How many messages an export has saved: none if it ended without files. */
function savedBy({ saved, done, finished, status }: OperationRow): number {
  return finished === null || status === 'completed' ? (saved ?? done) : 0;
}

async function mailProgressOf(row: OperationRow, sources: StatusSources): Promise<Progress> {
  const { transfer_id: id } = row;
  const skipped = row.skipped ?? (await sources.skippedMessages(id, SKIPPED_SHOWN));
  const folders = row.is_export ? [] : await sources.folders(id);
  const back = await sources.takenBack(id);
  const arrivals = row.is_export ? null : await sources.arrivals(id);
  const { copied = 0, present = 0, moved = 0 } = arrivals ?? {};
  return {
    ...atTheEnd(row, progressOf(row, skipped), copied + present + moved),
    ...(folders.length === 0 ? {} : { folders: folders.map((folder) => folderOf(folder, row)) }),
    ...(arrivals === null ? {} : { compared: arrivals.compared }),
    ...copiedOf(row, arrivals),
    ...(arrivals === null || arrivals.present === 0 ? {} : { present: arrivals.present }),
    ...(arrivals === null || arrivals.moved === 0 ? {} : { moved: arrivals.moved }),
    ...(back?.remark ? { failure: back.remark } : {}),
    ...(back === null ? {} : { taken_back: back.removed, ...(back.goesOn ? { taking_back: true } : {}) }),
  };
}

async function contactsProgressOf(row: OperationRow, sources: StatusSources): Promise<ContactsProgress> {
  const { transfer_id: id } = row;
  const contacts = await sources.contactCounts(id);
  const skipped = row.skipped ?? (await sources.contactRemarks(id, 'refused', SKIPPED_SHOWN));
  const remarks = await sources.contactRemarks(id, 'others', SKIPPED_SHOWN);
  const progress = progressOf(row, skipped);
  // A worker writes its progress less often than the outcome of each contact.
  const settled = contacts === null ? 0 : Object.values(contacts).reduce((sum, count) => sum + count, 0);
  const done = Math.max(row.done, Math.min(settled, row.total ?? settled));
  return {
    ...atTheEnd(row, { ...progress, done }, settled),
    ...(contacts === null ? {} : { contacts }),
    ...(remarks.length === 0 ? {} : { remarks }),
  };
}

function progressOf(row: OperationRow, skipped: readonly Skipped[]): Progress {
  return {
    status: row.is_export ? exportStatusOf(row.status) : row.status,
    done: row.done,
    bytes: Number(row.bytes),
    skipped: [...skipped],
    ...(row.total === null ? {} : { total: row.total }),
    ...(row.failure === null ? {} : { failure: row.failure }),
    ...(row.lost === null ? {} : { lost: row.lost }),
    ...(row.duplicated === null ? {} : { duplicated: row.duplicated }),
    ...(row.changed === null ? {} : { changed: row.changed }),
    ...(row.kept === null ? {} : { kept: row.kept }),
    ...(row.in_line && row.finished === null && row.attention_reason === null
      ? { waiting: waitingOf('queue', null) }
      : {}),
    ...(row.waiting_reason === null ? {} : { waiting: waitingOf(row.waiting_reason, toCome(row.waiting_until, row)) }),
    ...(row.attention_side === null || row.attention_reason === null
      ? {}
      : {
          attention: {
            side: row.attention_side,
            reason: row.attention_reason,
            ...untilOf(toCome(row.attention_since === null ? null : endOfRest(row.attention_since), row)),
          },
        }),
    ...(row.status === 'inprogress' ? leftOf(row) : {}),
    ...(row.cancelled ? { ended: 'cancelled' as const } : {}),
    ...(row.started === null ? {} : { started: row.started.toISOString() }),
    ...(row.finished === null ? {} : { finished: row.finished.toISOString() }),
  };
}

/** Whether everything was done. An export only counts what is in its files, and may have left something out. */
function isComplete({ finished, status, is_export: isExport, skipped }: OperationRow): boolean {
  const leftOut = isExport ? (skipped?.length ?? 0) : 0;
  return finished !== null && status === 'completed' && leftOut === 0;
}

/**
 * If an operation is complete, all that there was is done. Until then, the counts never decrease: they may include what
 * the owner has deleted at the source between two runs, and lack what the first run copied from a folder that is gone
 * by now.
 * @param settled what is known to be there
 */
function atTheEnd(row: OperationRow, progress: Progress, settled: number): Progress {
  if (!isComplete(row)) return progress;
  const done = Math.max(row.done, settled);
  return { ...progress, done, total: done };
}

/**
 * The total of a folder excludes, at the end, what the owner deleted at the source before it was read, but includes
 * what was left out.
 */
function folderOf({ settled, gone, ...folder }: FolderProgress, row: OperationRow): Folder {
  if (isComplete(row)) return { ...folder, total: settled };
  return row.finished === null ? folder : { ...folder, total: folder.total - gone };
}

/** Nothing once the last estimate has elapsed, since a stalled connection gives no new one. */
function leftOf({ left_now: left }: OperationRow): { left?: number } {
  return left === null || left <= 0 ? {} : { left: Math.round(left) };
}

/** `null` once the time has passed, since what was due by then may be late. */
function toCome(time: Date | null, { asked }: OperationRow): Date | null {
  return time !== null && time > asked ? time : null;
}

function waitingOf(reason: WaitingReason, until: Date | null): NonNullable<Progress['waiting']> {
  return { reason, ...untilOf(until) };
}

function untilOf(time: Date | null): { until?: string } {
  return time === null ? {} : { until: time.toISOString() };
}

/** The badges of an export have only three values (`portal.md` §4). */
function exportStatusOf(status: string): StatusValue {
  switch (status) {
    case 'completed':
      return 'completed';
    case 'review':
    case 'authentication_error':
    case 'error':
      return 'error';
    default:
      return 'started';
  }
}

type OperationRow = {
  transfer_id: string;
  source_email: string;
  destination_email: string;
  destination_provider: Provider;
  /** For forwarding. */
  forwarding_ended: Date | null;
  forwarding_copies: boolean | null;
  is_export: boolean;
  /** Of the whole transfer, like the next four. */
  has_ended: boolean;
  by_itself: boolean;
  /** How often its owner has put something right. */
  resumed: number;
  /** It has waited for a while, and no worker has ever taken it, or taken it over from one that has died. */
  in_line: boolean;
  contact: string | null;
  failure: string | null;
  operation: Operation;
  status: string;
  done: number;
  /** The number of messages in the files of a finished export. */
  saved: number | null;
  total: number | null;
  bytes: number | string | bigint;
  lost: number | null;
  duplicated: number | null;
  changed: number | null;
  kept: number | null;
  waiting_reason: WaitingReason | null;
  waiting_until: Date | null;
  skipped: Skipped[] | null;
  cancelled: boolean;
  /** Seconds from now. */
  left_now: number | null;
  /** The database's time of the query. */
  asked: Date;
  attention_side: Attention['side'] | null;
  attention_since: Date | null;
  attention_reason: Attention['reason'] | null;
  started: Date | null;
  finished: Date | null;
};
