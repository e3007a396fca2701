import {
  type AddedMailbox,
  type Disowned,
  type Group,
  type LedgerMailbox,
  type NewGroup,
  type NewMailbox,
  type NewRow,
  type Row,
  type RowKey,
  type Tally,
} from '../../src/server/mail/copy/ledger/ledger.ts';
import { PERHAPS_FOR_NOW } from '../../src/server/mail/copy/ledger/reasons.ts';
import { storedPath } from '../../src/server/mail/copy/ledger/rows.ts';
import { LeaseLost } from '../../src/server/transfers/lease.ts';

type StoredMailbox = {
  readonly id: number;
  readonly transfer: string;
  sourcePath: string;
  readonly sourceUidValidity: bigint;
  readonly destinationPath: string;
  destination?: { readonly uidValidity: bigint; readonly uidNext: number };
  total?: number;
  reason?: string | undefined;
};
type StoredTransfer = {
  readonly id: string;
  epoch: number;
  finished: boolean;
  adopted: boolean;
  leasedUntil: number;
};
type StoredRow = Row & { readonly settled: number };

/** What a transfer's worker holds: the transfer and the epoch of its lease. */
export type Holding = { readonly transfer: string; readonly epoch: number };

const NUMBERS_A_LEASE = 1e9;
const ADOPTED = new Set(['stored', 'kept', 'changed', 'twin', 'taken']);
const STORED = new Set(['stored', 'kept', 'changed']);

/** The ledger's tables in memory, of one pair of accounts. Each method is one transaction of the real ones. */
export class LedgerTables {
  /** Whether a lease keeps others away. */
  isFenced = true;
  readonly transfers = new Map<string, StoredTransfer>();
  readonly #mailboxes = new Map<number, StoredMailbox>();
  readonly #rows = new Map<number, Map<number, StoredRow>>();
  readonly #groups = new Map<string, Map<number, Group>>();
  readonly #disowned = new Map<string, Disowned & { readonly transfer: string }>();
  #nextMailbox = 1;
  #nextNumber = 0;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** @returns what restores all of it as it is now */
  backUp(): () => void {
    const tables = [this.transfers, this.#mailboxes, this.#rows, this.#groups, this.#disowned] as const;
    const copies = tables.map((table) => structuredClone(table));
    const [nextMailbox, nextNumber] = [this.#nextMailbox, this.#nextNumber];
    return () => {
      for (const [at, table] of tables.entries()) {
        table.clear();
        for (const [key, value] of structuredClone(copies[at]) ?? []) table.set(key as never, value as never);
      }
      [this.#nextMailbox, this.#nextNumber] = [nextMailbox, nextNumber];
    };
  }

  begin(id: string): void {
    this.transfers.set(id, { id, epoch: 0, finished: false, adopted: false, leasedUntil: -Infinity });
    this.#groups.set(id, new Map());
  }

  /** @returns the epoch, or why there is none */
  take(id: string, milliseconds: number): number | 'held' | 'ended' {
    const transfer = this.transfers.get(id);
    if (transfer === undefined || transfer.finished) return 'ended';
    if (this.isFenced && transfer.leasedUntil > this.#now()) return 'held';
    transfer.epoch += 1;
    transfer.leasedUntil = this.#now() + milliseconds;
    return transfer.epoch;
  }

  /** @returns whether the lease was still held; after 0 milliseconds it is not any more. */
  confirm(holding: Holding, milliseconds: number): boolean {
    const transfer = this.#holds(holding);
    if (transfer !== null) transfer.leasedUntil = this.#now() + milliseconds;
    return transfer !== null;
  }

  finish(holding: Holding): void {
    this.#hold(holding).finished = true;
  }

  mailboxes(transfer: string): LedgerMailbox[] {
    return this.#mailboxesOf(transfer).map(mailboxOf);
  }

  /** What the status shows of each mailbox of a transfer. */
  notes(
    transfer: string,
  ): readonly { readonly sourcePath: string; readonly total?: number; readonly reason?: string }[] {
    return this.#mailboxesOf(transfer).map(({ sourcePath, total, reason }) => ({
      sourcePath,
      ...(total === undefined ? {} : { total }),
      ...(reason === undefined ? {} : { reason }),
    }));
  }

  /** What the status shows of how many messages a mailbox has. */
  totalOf(mailboxId: number): { readonly total?: number } {
    const total = this.#mailboxes.get(mailboxId)?.total;
    return total === undefined ? {} : { total };
  }

  addMailboxes(holding: Holding, mailboxes: readonly NewMailbox[]): AddedMailbox[] {
    this.#hold(holding);
    return mailboxes.map((mailbox) => {
      const { sourcePath, destinationPath } = mailbox;
      const keyed = { ...mailbox, sourcePath: storedPath(sourcePath), destinationPath: storedPath(destinationPath) };
      const before = this.#same(holding.transfer, keyed);
      const known = before ?? this.#insertMailbox(holding.transfer, keyed);
      Object.assign(known, { total: mailbox.total, reason: mailbox.reason });
      const isSame = known.destinationPath === keyed.destinationPath;
      return { ...mailboxOf(known), isNew: before === undefined, sourcePath, ...(isSame ? { destinationPath } : {}) };
    });
  }

  rename(holding: Holding, ids: readonly number[], sourcePath: string): void {
    this.#hold(holding);
    for (const id of ids) {
      const mailbox = this.#mailboxes.get(id);
      if (mailbox !== undefined) mailbox.sourcePath = storedPath(sourcePath);
    }
  }

  noteMailbox(holding: Holding, mailboxId: number, reason: string | null): void {
    this.#hold(holding);
    const mailbox = this.#mailboxes.get(mailboxId);
    if (mailbox !== undefined) mailbox.reason = reason ?? undefined;
  }

  countMailbox(holding: Holding, mailboxId: number, total: number): void {
    this.#hold(holding);
    const mailbox = this.#mailboxes.get(mailboxId);
    if (mailbox !== undefined) mailbox.total = total;
  }

  adopt(holding: Holding): void {
    const mine = this.#hold(holding);
    if (mine.adopted) return;
    mine.adopted = true;
    const before = [...this.transfers.values()].filter((each) => each.finished && each.adopted && each.id !== mine.id);
    const last = before.at(-1)?.id;
    if (last === undefined) return;
    for (const theirs of this.#mailboxesOf(last)) {
      const isNew = this.#same(mine.id, theirs) === undefined;
      const own = this.#same(mine.id, theirs) ?? this.#insertMailbox(mine.id, theirs);
      if (isNew && theirs.destination !== undefined) own.destination = theirs.destination;
      if (own.destinationPath !== theirs.destinationPath) continue;
      const rows = this.#rowsOf(own.id);
      for (const [uid, row] of this.#rowsOf(theirs.id))
        if (ADOPTED.has(row.fate) && !rows.has(uid)) {
          const { reason: _reason, ...rest } = row;
          rows.set(uid, { ...rest, earlier: true });
        }
    }
    const groups = this.#groupsOf(mine.id);
    let number = 0;
    for (const group of this.groups(last)) {
      const theirs = this.#mailboxes.get(group.mailboxId);
      const own = theirs === undefined ? undefined : this.#same(mine.id, theirs);
      if (own === undefined || own.destinationPath !== theirs?.destinationPath) continue;
      number -= 1;
      groups.set(number, { ...group, id: number, mailboxId: own.id });
    }
  }

  rows(mailboxId: number, fromUid = 1): Row[] {
    return [...this.#rowsOf(mailboxId).values()]
      .filter(({ uid }) => uid >= fromUid)
      .toSorted((a, b) => a.uid - b.uid)
      .map(({ settled: _settled, ...row }) => row);
  }

  groups(transfer: string): Group[] {
    return [...this.#groupsOf(transfer).values()].toSorted((a, b) => a.id - b.id);
  }

  open(holding: Holding, groups: readonly NewGroup[]): Group[] {
    this.#hold(holding);
    return groups.map((group) => {
      this.#nextNumber += 1;
      const messages = group.messages.map(({ uid, size, date }) => ({ uid, size, date }));
      const id = holding.epoch * NUMBERS_A_LEASE + this.#nextNumber;
      this.#groupsOf(holding.transfer).set(id, { ...group, id, messages });
      const mailbox = this.#mailboxes.get(group.mailboxId);
      if (mailbox !== undefined && mailbox.destination?.uidValidity !== group.uidValidity)
        mailbox.destination = { uidValidity: group.uidValidity, uidNext: group.uidNext };
      return { ...group, id };
    });
  }

  settle(holding: Holding, rows: readonly NewRow[], closed: readonly number[] = []): NewRow[] {
    this.#hold(holding);
    for (const number of closed) this.#groupsOf(holding.transfer).delete(number);
    const left: NewRow[] = [];
    for (const row of rows) {
      const { mailboxId, isKnown, ...rest } = row;
      const mailbox = this.#mailboxes.get(mailboxId);
      if (mailbox === undefined) continue;
      if (this.#disowned.has(placeOf(mailbox, row.destinationUidValidity, row.destinationUid))) {
        left.push(row);
        continue;
      }
      const before = this.#rowsOf(mailboxId).get(row.uid);
      const { destinationUid, destinationUidValidity } = row;
      if (
        isKnown === true &&
        (destinationUid === undefined ||
          before?.destinationUid !== destinationUid ||
          before.destinationUidValidity !== destinationUidValidity)
      ) {
        left.push(row);
        continue;
      }
      const subject = row.subject ?? before?.subject;
      const sourceDate = before?.sourceDate;
      this.#rowsOf(mailboxId).set(row.uid, {
        ...rest,
        ...(subject === undefined ? {} : { subject }),
        ...(sourceDate === undefined ? {} : { sourceDate }),
        earlier: before?.earlier ?? row.earlier ?? false,
        settled: before?.destinationUid === undefined ? this.#now() : before.settled,
      });
    }
    return left;
  }

  move(holding: Holding, moves: readonly { readonly from: RowKey; readonly to: RowKey }[]): void {
    this.#hold(holding);
    for (const { from, to } of moves) {
      const row = this.#rowsOf(from.mailboxId).get(from.uid);
      this.#rowsOf(to.mailboxId).delete(to.uid);
      if (row === undefined) continue;
      this.#rowsOf(from.mailboxId).delete(from.uid);
      this.#rowsOf(to.mailboxId).set(to.uid, { ...row, uid: to.uid });
    }
  }

  redate(
    holding: Holding,
    mailboxId: number,
    messages: readonly { readonly uid: number; readonly date: number }[],
  ): void {
    this.#hold(holding);
    const rows = this.#rowsOf(mailboxId);
    for (const { uid, date: sourceDate } of messages) {
      const row = rows.get(uid);
      if (row !== undefined) rows.set(uid, { ...row, sourceDate });
    }
  }

  forget(holding: Holding, mailboxId: number, uids: readonly number[]): void {
    if (!this.#holds(holding)) return;
    for (const uid of uids) this.#rowsOf(mailboxId).delete(uid);
  }

  forgetRefused(holding: Holding): boolean {
    if (!this.#holds(holding)) return false;
    let isAny = false;
    for (const { id } of this.#mailboxesOf(holding.transfer))
      for (const [uid, { fate, reason }] of this.#rowsOf(id)) {
        if (fate !== 'refused' || !PERHAPS_FOR_NOW.includes(reason ?? '')) continue;
        this.#rowsOf(id).delete(uid);
        isAny = true;
      }
    return isAny;
  }

  verified(
    holding: Holding,
    mailboxId: number,
    messages: readonly { readonly uid: number; readonly destinationUid: number }[],
  ): void {
    this.#hold(holding);
    const rows = this.#rowsOf(mailboxId);
    for (const { uid, destinationUid } of messages) {
      const row = rows.get(uid);
      if (row?.destinationUid === destinationUid) rows.set(uid, { ...row, verified: true });
    }
  }

  claimed(transfer: string, destinationPath: string, uidValidity: bigint): Set<number> {
    const claimed = new Set<number>();
    for (const mailbox of this.#mailboxesOf(transfer))
      if (mailbox.destinationPath === storedPath(destinationPath))
        for (const row of this.#rowsOf(mailbox.id).values())
          if (row.destinationUidValidity === uidValidity && row.destinationUid !== undefined)
            claimed.add(row.destinationUid);
    return claimed;
  }

  disown(transfer: string, destinationPath: string, uidValidity: bigint, uid: number): boolean {
    if (this.claimed(transfer, destinationPath, uidValidity).has(uid)) return false;
    const path = storedPath(destinationPath);
    const one = { transfer, destinationPath: path, uidValidity, uid };
    this.#disowned.set(placeOf(one, uidValidity, uid), one);
    return true;
  }

  disowned(transfer: string): Disowned[] {
    return [...this.#disowned.values()]
      .filter((each) => each.transfer === transfer)
      .map(({ destinationPath, uidValidity, uid }) => ({ destinationPath, uidValidity, uid }));
  }

  /** All transfers of these tables are between the same two accounts. */
  traffic(since: number): { readonly up: number; readonly down: number } {
    let octets = 0;
    for (const rows of this.#rows.values())
      for (const row of rows.values())
        if (!row.earlier && row.destinationUid !== undefined && row.settled > since) octets += row.size;
    return { up: octets, down: octets };
  }

  tally(transfer: string): Tally {
    let [done, bytes, kept] = [0, 0, 0];
    for (const mailbox of this.#mailboxesOf(transfer))
      for (const row of this.#rowsOf(mailbox.id).values()) {
        done += 1;
        if (STORED.has(row.fate) && !row.earlier) bytes += row.size;
        if (row.fate === 'kept') kept += 1;
      }
    return { done, bytes, kept };
  }

  #holds({ transfer, epoch }: Holding): StoredTransfer | null {
    const held = this.transfers.get(transfer);
    return held === undefined || (this.isFenced && held.epoch !== epoch) ? null : held;
  }

  #hold(holding: Holding): StoredTransfer {
    const held = this.#holds(holding);
    if (held === null) throw new LeaseLost(holding.transfer);
    return held;
  }

  #mailboxesOf(transfer: string): StoredMailbox[] {
    return [...this.#mailboxes.values()].filter((mailbox) => mailbox.transfer === transfer);
  }

  #same(transfer: string, theirs: Pick<LedgerMailbox, 'sourcePath' | 'sourceUidValidity'>): StoredMailbox | undefined {
    return this.#mailboxesOf(transfer).find(
      (each) => each.sourcePath === theirs.sourcePath && each.sourceUidValidity === theirs.sourceUidValidity,
    );
  }

  #insertMailbox(
    transfer: string,
    {
      sourcePath,
      sourceUidValidity,
      destinationPath,
    }: Pick<LedgerMailbox, 'sourcePath' | 'sourceUidValidity' | 'destinationPath'>,
  ): StoredMailbox {
    const added: StoredMailbox = { id: this.#nextMailbox, transfer, sourcePath, sourceUidValidity, destinationPath };
    this.#nextMailbox += 1;
    this.#mailboxes.set(added.id, added);
    return added;
  }

  #rowsOf(mailboxId: number): Map<number, StoredRow> {
    const rows = this.#rows.get(mailboxId) ?? new Map<number, StoredRow>();
    this.#rows.set(mailboxId, rows);
    return rows;
  }

  #groupsOf(transfer: string): Map<number, Group> {
    const groups = this.#groups.get(transfer) ?? new Map<number, Group>();
    this.#groups.set(transfer, groups);
    return groups;
  }
}

function placeOf(
  { transfer, destinationPath }: Pick<StoredMailbox, 'transfer' | 'destinationPath'>,
  uidValidity: bigint | undefined,
  uid: number | undefined,
): string {
  return JSON.stringify([transfer, storedPath(destinationPath), String(uidValidity), uid]);
}

function mailboxOf(mailbox: StoredMailbox): LedgerMailbox {
  const { id, sourcePath, sourceUidValidity, destinationPath, destination, reason } = mailbox;
  return {
    id,
    sourcePath,
    sourceUidValidity,
    destinationPath,
    ...(destination === undefined ? {} : { destination }),
    ...(reason === undefined ? {} : { reason }),
  };
}
