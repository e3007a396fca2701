import { pageByIndex } from '../../../store/page-by-index.ts';
import type { Database } from '../../../store/database.ts';
import { isHeld, type Lease } from '../../../transfers/lease.ts';
import { adopt } from './adoption.ts';
import { gathered } from './gathered.ts';
import type { Ledger, Tally } from './ledger.ts';
import { ledgerMailboxes } from './mailboxes.ts';
import { ownershipAt } from './ownership.ts';
import { PERHAPS_FOR_NOW } from './reasons.ts';
import { COLUMNS, type GroupRow, type LedgerRow, groupOf, rowOf } from './rows.ts';
import { commitWrites, keyOf, noWrites } from './writes.ts';

const PAGE = 5000;
/** Groups of one lease are numbered from here on; no lease has so many. */
const NUMBERS_A_LEASE = 1e9;

/**
 * Rows from beyond that were written while the database's clock was ahead: they would count against each day's octets.
 */
const FAR_AHEAD = "now() + interval '1 day'";

export function openLedger(database: Database, lease: Lease): Ledger {
  const { transferId, epoch } = lease;
  let count = 0;
  /** Resolves to the keys of the rows written. */
  const write = gathered(noWrites, (writes) => commitWrites(database, lease, writes));

  return {
    ...ledgerMailboxes(database, lease),
    adopt: () => adopt(database, transferId, epoch),
    async *rows(mailboxId, fromUid = 1) {
      for (let after = fromUid - 1; ;) {
        // By the column, which is indexed; `uid` alone would be the expression that is selected under that name.
        const rows = await pageByIndex<LedgerRow>(
          database,
          `select ${COLUMNS} from ledger where mailbox_id = $1 and uid > $2 order by ledger.uid limit ${PAGE}`,
          [mailboxId, after],
        );
        const last = rows.at(-1);
        if (last === undefined) return;
        yield rows.map(rowOf);
        if (rows.length < PAGE) return;
        after = last.uid;
      }
    },
    groups: async () =>
      (
        await database.query<GroupRow>(
          `select number::float8 as number, mailbox_id::float8 as mailbox_id, uids::float8[] as uids,
             sizes::float8[] as sizes, dates::float8[] as dates, uid_validity::text as uid_validity,
             uid_next::float8 as uid_next
           from ledger_groups where transfer_id = $1 order by number`,
          [transferId],
        )
      ).map(groupOf),
    open: async (groups) => {
      const opened = groups.map((group) => ({ ...group, id: epoch * NUMBERS_A_LEASE + (count += 1) }));
      await write((writes) => writes.opened.push(...opened));
      return opened;
    },
    settle: async (rows, closed = []) => {
      const written = await write((writes) => {
        for (const row of rows) writes.rows.set(keyOf(row.mailboxId, row.uid), row);
        writes.closed.push(...closed);
      });
      return rows.filter((row) => !written.has(keyOf(row.mailboxId, row.uid)));
    },
    move: async (moves) => {
      if (moves.length === 0) return;
      await write((writes) => writes.moves.push(...moves));
    },
    redate: async (mailboxId, messages) => {
      if (messages.length === 0) return;
      await write((writes) => writes.dates.push(...messages.map((each) => ({ ...each, mailboxId }))));
    },
    forget: async (mailboxId, uids) => {
      await database.query(
        `delete from ledger using (select 1 from transfers where ${isHeld()} for share) lease
         where mailbox_id = $3 and uid = any($4::bigint[])`,
        [transferId, epoch, mailboxId, [...uids]],
      );
    },
    forgetRefused: async () => {
      const forgotten = await database.query(
        `delete from ledger
         using (select 1 from transfers where ${isHeld()} for share) lease, ledger_mailboxes m
         where m.transfer_id = $1 and ledger.mailbox_id = m.id and ledger.fate = 'refused' and ledger.reason = any($3)
         returning ledger.uid`,
        [transferId, epoch, [...PERHAPS_FOR_NOW]],
      );
      return forgotten.length > 0;
    },
    verified: async (mailboxId, messages) => {
      await write((writes) => writes.verified.push(...messages.map((each) => ({ ...each, mailboxId }))));
    },
    ...ownershipAt(database, transferId),
    traffic: async (since) => {
      const [row] = await database.query<{ up: number; down: number }>(
        `select coalesce(sum(l.size) filter (where that.destination_email = this.destination_email
             and that.destination_provider = this.destination_provider), 0)::float8 as up,
           coalesce(sum(l.size) filter (where that.source_email = this.source_email
             and that.source_provider = this.source_provider), 0)::float8 as down
         from transfers this
         join transfers that on that.destination_email = this.destination_email or that.source_email = this.source_email
         join ledger_mailboxes m on m.transfer_id = that.id
         join ledger l on l.mailbox_id = m.id and not l.earlier and l.destination_uid is not null
           and l.settled > to_timestamp($2) and l.settled < ${FAR_AHEAD}
         where this.id = $1`,
        [transferId, since / 1000],
      );
      return row ?? { up: 0, down: 0 };
    },
    tally: async () => {
      const [row] = await database.query<Tally>(
        `select count(*)::integer as done,
           coalesce(sum(size) filter (where fate in ('stored', 'kept', 'changed') and not earlier), 0)::float8 as bytes,
           (count(*) filter (where fate = 'kept'))::integer as kept
         from ledger where mailbox_id in (select id from ledger_mailboxes where transfer_id = $1)`,
        [transferId],
      );
      return row ?? { done: 0, bytes: 0, kept: 0 };
    },
  };
}
