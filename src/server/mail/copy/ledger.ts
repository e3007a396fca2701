import type { ListedMessage } from '../imap/message.ts';
import { wordsFor } from './reasons.ts';
import type { Skipped } from '../../../contract/calls/status.ts';
import type { Database, Sql } from '../../store/database.ts';
import { LeaseLost, type Lease } from '../../transfers/lease.ts';

export type LedgerMailbox = {
  readonly id: number;
  readonly sourcePath: string;
  readonly sourceUidValidity: bigint;
  readonly destinationPath: string;
  /** As it was before this transfer's first append there. */
  readonly destination?: { readonly uidValidity: bigint; readonly uidNext: number };
};

/** What is about to be appended: octets, hex digest, and the destination as it is now. */
export type Intent = {
  readonly size: number;
  readonly sha256: string;
  readonly internalDate: Date;
  readonly flags: readonly string[];
  readonly uidValidity: bigint;
  readonly uidNext: number;
};

export type Outcome =
  | { readonly state: 'done'; readonly uidValidity: bigint; readonly uid: number }
  | { readonly state: 'refused'; readonly reason: string; readonly subject?: string }
  /** Nothing was stored, for certain: the message waits again. */
  | { readonly state: 'listed' | 'gone' };

/** A row whose outcome is not known yet. `intent` is there when it may have been appended. */
export type PendingMessage = { readonly uid: number; readonly size: number; readonly intent?: Intent };

export type StoredMessage = {
  readonly uid: number;
  readonly size: number;
  readonly sha256: string;
  readonly internalDate: Date;
  readonly flags: readonly string[];
  readonly destinationUid: number;
  readonly destinationUidValidity: bigint;
};

/** A message that an earlier transfer stored; without a `destinationUid` it was about to, and nobody knows. */
export type KnownMessage = { readonly uid: number; readonly destinationUid: number | null };

/** `done` counts every message whose fate is settled; `bytes` those stored. */
export type LedgerProgress = { readonly total: number; readonly done: number; readonly bytes: number };

type Change = {
  mailbox_id: number;
  uid: number;
  state: 'listed' | 'intent' | 'done' | 'refused' | 'gone' | 'superseded';
  size?: number;
  sha256?: string;
  internal_date?: string;
  flags?: readonly string[];
  destination_uid_validity?: string;
  destination_uid_next?: number;
  destination_uid?: number;
  reason?: string;
  subject?: string;
};

/**
 * The memory of a transfer: every message of the source, what was about to be done with it, and what came of it.
 * What `intend` promises is on disk. Writes of several workers that come together are committed together.
 */
export type Ledger = {
  mailboxes(): Promise<LedgerMailbox[]>;
  addMailbox(mailbox: Omit<LedgerMailbox, 'id' | 'destination'>): Promise<LedgerMailbox>;
  /** Keeps the first note only. */
  noteDestination(mailboxId: number, destination: { uidValidity: bigint; uidNext: number }): Promise<void>;
  /** Adds messages that it has not seen yet, or took for gone: a listing can have left them out. */
  addListed(mailboxId: number, messages: readonly ListedMessage[]): Promise<void>;
  /** What earlier transfers between the same two accounts know of the messages that wait here. */
  known(mailboxId: number, uidValidity: bigint): Promise<KnownMessage[]>;
  /** Takes over what those transfers know of these messages. */
  adopt(mailboxId: number, uidValidity: bigint, uids: readonly number[]): Promise<void>;
  pending(mailboxId: number, uids?: readonly number[]): Promise<PendingMessage[]>;
  /** The messages stored at the destination, by rising source UID, in pages. */
  stored(mailboxId: number): AsyncIterable<StoredMessage[]>;
  /** The destination UIDs that belong to some row of this transfer. */
  claimed(destinationPath: string, uidValidity: bigint): Promise<Set<number>>;
  intend(mailboxId: number, uid: number, intent: Intent): Promise<void>;
  settle(mailboxId: number, uid: number, outcome: Outcome): Promise<void>;
  supersede(mailboxId: number, uid: number): Promise<void>;
  /** Ends when everything that was given to it so far is written, whether or not that went well. */
  drained(): Promise<void>;
  progress(): Promise<LedgerProgress>;
};

const LISTED_AT_ONCE = 1000;
const STORED_PAGE = 1000;

/** @throws {LeaseLost} from every write after another worker took over. */
export function openLedger(database: Database, { transferId, epoch }: Lease): Ledger {
  const { add: apply, drained } = batched<Change>((changes) => write(database, transferId, epoch, changes));
  return {
    mailboxes: async () =>
      (
        await database.query<MailboxRow>('select * from ledger_mailboxes where transfer_id = $1 order by id', [
          transferId,
        ])
      ).map(mailboxOf),
    addMailbox: async ({ sourcePath, sourceUidValidity, destinationPath }) => {
      const [row] = await database.query<MailboxRow>(
        `insert into ledger_mailboxes (transfer_id, source_path, source_uid_validity, destination_path)
         values ($1, $2, $3, $4)
         on conflict (transfer_id, source_path, source_uid_validity) do update set source_path = excluded.source_path
         returning *`,
        [transferId, sourcePath, sourceUidValidity.toString(), destinationPath],
      );
      if (row === undefined) throw new Error('The ledger gave no row back.');
      return mailboxOf(row);
    },
    noteDestination: async (mailboxId, { uidValidity, uidNext }) => {
      await database.query(
        `update ledger_mailboxes set destination_uid_validity = $2, destination_uid_next = $3
         where id = $1 and destination_uid_validity is null`,
        [mailboxId, uidValidity.toString(), uidNext],
      );
    },
    addListed: async (mailboxId, messages) => {
      for (let from = 0; from < messages.length; from += LISTED_AT_ONCE) {
        const rows = messages.slice(from, from + LISTED_AT_ONCE).map(({ uid, size }) => ({ uid, size }));
        await database.query(
          `insert into ledger (mailbox_id, uid, size)
           select $1, x.uid, x.size from json_to_recordset($2::json) as x(uid bigint, size bigint)
           on conflict (mailbox_id, uid) do update set state = 'listed' where ledger.state = 'gone'`,
          [mailboxId, JSON.stringify(rows)],
        );
      }
    },
    known: async (mailboxId, uidValidity) =>
      (
        await database.query<{ uid: number; destination_uid: number | null }>(
          `select uid::float8 as uid, destination_uid::float8 as destination_uid from (${EARLIER}) earlier`,
          [transferId, mailboxId, uidValidity.toString()],
        )
      ).map((row) => ({ uid: row.uid, destinationUid: row.destination_uid })),
    adopt: async (mailboxId, uidValidity, uids) => {
      await database.query(
        `update ledger l set state = earlier.state, size = earlier.size, sha256 = earlier.sha256,
           internal_date = earlier.internal_date, flags = earlier.flags,
           destination_uid_validity = earlier.destination_uid_validity,
           destination_uid_next = earlier.destination_uid_next, destination_uid = earlier.destination_uid
         from (${EARLIER}) earlier, (select 1 from transfers where id = $1 and epoch = $5 for share) lease
         where l.mailbox_id = $2 and l.uid = earlier.uid and earlier.uid = any($4::bigint[])`,
        [transferId, mailboxId, uidValidity.toString(), [...uids], epoch],
      );
    },
    pending: async (mailboxId, uids) =>
      (
        await database.query<Row>(
          `select ${COLUMNS} from ledger
           where mailbox_id = $1 and state in ('listed', 'intent') and ($2::bigint[] is null or uid = any($2::bigint[]))
           order by uid`,
          [mailboxId, uids ?? null],
        )
      ).map(pendingOf),
    async *stored(mailboxId) {
      for (let after = 0; ;) {
        const rows = await database.query<Row>(
          `select ${COLUMNS} from ledger where mailbox_id = $1 and state = 'done' and uid > $2 order by uid limit ${STORED_PAGE}`,
          [mailboxId, after],
        );
        const last = rows.at(-1);
        if (last === undefined) return;
        yield rows.map(storedOf);
        after = Number(last.uid);
      }
    },
    claimed: async (destinationPath, uidValidity) =>
      new Set(
        (
          await database.query<{ uid: number | string }>(
            `select l.destination_uid as uid from ledger l join ledger_mailboxes m on m.id = l.mailbox_id
             where m.transfer_id = $1 and m.destination_path = $2
               and l.destination_uid_validity = $3 and l.destination_uid is not null`,
            [transferId, destinationPath, uidValidity.toString()],
          )
        ).map((row) => Number(row.uid)),
      ),
    intend: (mailboxId, uid, intent) =>
      apply({
        mailbox_id: mailboxId,
        uid,
        state: 'intent',
        size: intent.size,
        sha256: intent.sha256,
        internal_date: intent.internalDate.toISOString(),
        flags: intent.flags,
        destination_uid_validity: intent.uidValidity.toString(),
        destination_uid_next: intent.uidNext,
      }),
    settle: (mailboxId, uid, outcome) => apply(changeOf(mailboxId, uid, outcome)),
    drained,
    supersede: (mailboxId, uid) => apply({ mailbox_id: mailboxId, uid, state: 'superseded' }),
    progress: async () => {
      const [row] = await database.query<LedgerProgress>(
        `select count(*)::integer as total, count(*) filter (where state not in ('listed', 'intent'))::integer as done,
           coalesce(sum(size) filter (where state = 'done'), 0)::float8 as bytes
         from ledger where mailbox_id in (select id from ledger_mailboxes where transfer_id = $1)`,
        [transferId],
      );
      return row ?? { total: 0, done: 0, bytes: 0 };
    },
  };
}

function changeOf(mailboxId: number, uid: number, outcome: Outcome): Change {
  const key = { mailbox_id: mailboxId, uid };
  switch (outcome.state) {
    case 'done':
      return {
        ...key,
        state: 'done',
        destination_uid: outcome.uid,
        destination_uid_validity: outcome.uidValidity.toString(),
      };
    case 'refused':
      return {
        ...key,
        state: 'refused',
        reason: outcome.reason,
        ...(outcome.subject === undefined ? {} : { subject: outcome.subject.replaceAll('\0', '') }),
      };
    case 'listed':
    case 'gone':
      return { ...key, state: outcome.state };
  }
}

/** One statement, so that it is atomic on both databases; the lease is locked until it is done. */
async function write(database: Database, transferId: string, epoch: number, changes: readonly Change[]): Promise<void> {
  const latest = new Map<string, Change>();
  for (const change of changes) {
    const key = `${change.mailbox_id}/${change.uid}`;
    latest.set(key, { ...latest.get(key), ...change });
  }
  const rows = await database.query(
    `update ledger l set
       state = x.state,
       size = coalesce(x.size, l.size),
       sha256 = coalesce(decode(x.sha256, 'hex'), l.sha256),
       internal_date = coalesce(x.internal_date, l.internal_date),
       flags = coalesce(x.flags, l.flags),
       destination_uid_validity = coalesce(x.destination_uid_validity, l.destination_uid_validity),
       destination_uid_next = coalesce(x.destination_uid_next, l.destination_uid_next),
       destination_uid = x.destination_uid,
       reason = x.reason,
       subject = x.subject
     from json_to_recordset($1::json) as x(mailbox_id bigint, uid bigint, state text, size bigint, sha256 text,
         internal_date timestamptz, flags text[], destination_uid_validity bigint, destination_uid_next bigint,
         destination_uid bigint, reason text, subject text),
       (select 1 from transfers where id = $2 and epoch = $3 for share) lease
     where l.mailbox_id = x.mailbox_id and l.uid = x.uid
     returning 1`,
    [JSON.stringify([...latest.values()]), transferId, epoch],
  );
  if (rows.length !== latest.size) throw new LeaseLost(transferId);
}

/** The messages of a transfer that were not taken, in words for the subscriber. */
export async function skippedMessages(sql: Sql, transferId: string, atMost: number): Promise<Skipped[]> {
  const rows = await sql.query<{ mailbox: string; reason: string; subject: string | null }>(
    `select m.source_path as mailbox, l.reason, l.subject from ledger l join ledger_mailboxes m on m.id = l.mailbox_id
     where m.transfer_id = $1 and l.state = 'refused' order by m.id, l.uid limit $2`,
    [transferId, atMost],
  );
  return rows.map(({ mailbox, reason, subject }) => ({
    mailbox,
    reason: wordsFor(reason),
    ...(subject === null ? {} : { subject }),
  }));
}

export async function countSkippedMessages(sql: Sql, transferId: string): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    `select count(*)::float8 as count from ledger where state = 'refused'
       and mailbox_id in (select id from ledger_mailboxes where transfer_id = $1)`,
    [transferId],
  );
  return row?.count ?? 0;
}

/** Collects what comes while a write is under way and writes it together. `add` ends when its item is written. */
function batched<Item>(writeAll: (items: readonly Item[]) => Promise<void>): {
  add: (item: Item) => Promise<void>;
  drained: () => Promise<void>;
} {
  let waiting: Item[] = [];
  let next: Promise<void> | undefined;
  let running: Promise<void> = Promise.resolve();
  const flush = async () => {
    await running;
    const items = waiting;
    waiting = [];
    next = undefined;
    const writing = writeAll(items);
    // What follows waits for this write, but does not fail with it.
    running = writing.catch(() => {});
    await writing;
  };
  const add = (item: Item) => {
    waiting.push(item);
    next ??= flush();
    return next;
  };
  return { add, drained: () => (next ?? running).catch(() => {}) };
}

/**
 * The newest row that a finished transfer between the same accounts ($1) has of each message that is listed in a
 * mailbox ($2), as far as the destination's UIDVALIDITY ($3) is still the same.
 */
const EARLIER = `
  select distinct on (old.uid) old.* from ledger_mailboxes mine
  join transfers this on this.id = mine.transfer_id
  join transfers that on that.id <> this.id and that.finished is not null
    and that.source_email = this.source_email and that.source_provider = this.source_provider
    and that.source_imap is not distinct from this.source_imap
    and that.destination_email = this.destination_email and that.destination_provider = this.destination_provider
    and that.destination_imap is not distinct from this.destination_imap
  join ledger_mailboxes theirs on theirs.transfer_id = that.id and theirs.source_path = mine.source_path
    and theirs.source_uid_validity = mine.source_uid_validity and theirs.destination_path = mine.destination_path
  join ledger old on old.mailbox_id = theirs.id and old.state in ('done', 'intent')
    and old.destination_uid_validity = $3
  join ledger waiting on waiting.mailbox_id = mine.id and waiting.uid = old.uid and waiting.state = 'listed'
  where this.id = $1 and mine.id = $2
  order by old.uid, that.created desc`;

const COLUMNS = `uid, size, encode(sha256, 'hex') as sha256, internal_date, flags, state,
  destination_uid_validity, destination_uid_next, destination_uid`;

type Row = {
  uid: number | string;
  size: number | string;
  sha256: string | null;
  internal_date: Date | null;
  flags: string[] | null;
  state: string;
  destination_uid_validity: number | string | bigint | null;
  destination_uid_next: number | string | null;
  destination_uid: number | string | null;
};

type MailboxRow = {
  id: number | string;
  source_path: string;
  source_uid_validity: number | string | bigint;
  destination_path: string;
  destination_uid_validity: number | string | bigint | null;
  destination_uid_next: number | string | null;
};

function mailboxOf(row: MailboxRow): LedgerMailbox {
  return {
    id: Number(row.id),
    sourcePath: row.source_path,
    sourceUidValidity: BigInt(row.source_uid_validity),
    destinationPath: row.destination_path,
    ...(row.destination_uid_validity === null
      ? {}
      : {
          destination: {
            uidValidity: BigInt(row.destination_uid_validity),
            uidNext: Number(row.destination_uid_next),
          },
        }),
  };
}

function pendingOf(row: Row): PendingMessage {
  const key = { uid: Number(row.uid), size: Number(row.size) };
  if (row.state !== 'intent') return key;
  return {
    ...key,
    intent: {
      size: key.size,
      sha256: row.sha256 ?? '',
      internalDate: new Date(row.internal_date ?? Number.NaN),
      flags: row.flags ?? [],
      uidValidity: BigInt(row.destination_uid_validity ?? 0),
      uidNext: Number(row.destination_uid_next ?? 1),
    },
  };
}

function storedOf(row: Row): StoredMessage {
  return {
    uid: Number(row.uid),
    size: Number(row.size),
    sha256: row.sha256 ?? '',
    internalDate: new Date(row.internal_date ?? Number.NaN),
    flags: row.flags ?? [],
    destinationUid: Number(row.destination_uid),
    destinationUidValidity: BigInt(row.destination_uid_validity ?? 0),
  };
}
