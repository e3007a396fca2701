import type { Ledger } from '../../src/server/mail/copy/ledger/ledger.ts';
import type { SimulatedDatabase } from './database.ts';
import type { Holding, LedgerTables } from './ledger-tables.ts';
import type { SimulatedProcess } from './process.ts';

const PAGE = 5000;

/** The ledger as a process reaches it, over a simulated database. */
export function openSimulatedLedger(
  tables: LedgerTables,
  holding: Holding,
  database: SimulatedDatabase,
  process: SimulatedProcess,
): Ledger {
  const ask = <Answer>(label: string, work: () => Answer) => database.ask(process, label, work);
  const { transfer } = holding;
  return {
    mailboxes: () => ask('mailboxes', () => tables.mailboxes(transfer)),
    addMailboxes: (mailboxes) => ask('addMailboxes', () => tables.addMailboxes(holding, mailboxes)),
    rename: (ids, path) => ask('rename', () => tables.rename(holding, ids, path)),
    noteMailbox: (id, reason) => ask('noteMailbox', () => tables.noteMailbox(holding, id, reason)),
    countMailbox: (id, total) => ask('countMailbox', () => tables.countMailbox(holding, id, total)),
    adopt: () => ask('adopt', () => tables.adopt(holding)),
    async *rows(mailboxId, fromUid) {
      const rows = await ask('rows', () => tables.rows(mailboxId, fromUid));
      for (let from = 0; from < rows.length; from += PAGE) yield rows.slice(from, from + PAGE);
    },
    groups: () => ask('groups', () => tables.groups(transfer)),
    open: (groups) => ask(`open ${groups.length}`, () => tables.open(holding, groups)),
    settle: (rows, closed) => ask(`settle ${rows.length}`, () => tables.settle(holding, rows, closed)),
    move: (moves) => ask(`move ${moves.length}`, () => tables.move(holding, moves)),
    redate: (mailboxId, messages) =>
      ask(`redate ${messages.length}`, () => tables.redate(holding, mailboxId, messages)),
    forget: (mailboxId, uids) => ask('forget', () => tables.forget(holding, mailboxId, uids)),
    forgetRefused: () => ask('forgetRefused', () => tables.forgetRefused(holding)),
    verified: (mailboxId, messages) => ask('verified', () => tables.verified(holding, mailboxId, messages)),
    claimed: (path, uidValidity) => ask('claimed', () => tables.claimed(transfer, path, uidValidity)),
    disown: (path, uidValidity, uid) => ask('disown', () => tables.disown(transfer, path, uidValidity, uid)),
    disowned: () => ask('disowned', () => tables.disowned(transfer)),
    traffic: (since) => ask('traffic', () => tables.traffic(since)),
    tally: () => ask('tally', () => tables.tally(transfer)),
  };
}
