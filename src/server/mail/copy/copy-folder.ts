import { MailError } from '../imap/mail-error.ts';
import type { Listed, Opened, Selected } from '../imap/streams.ts';
import { digestOf } from './digest.ts';
import type { Group, LedgerMailbox, NewRow, Planned, Row } from './ledger.ts';
import { listMailbox, type Listing } from './listing.ts';
import { inParts, listedFrom, match } from './matching.ts';
import { isWindow } from './provider-limits.ts';
import { FolderLeft, type Check, type FolderCount, type Run, type Session } from './run.ts';
import { sendMessages, type Unsaid } from './sending.ts';

/** The newest messages of the inbox come before all others, so that recent mail is there within minutes. */
const NEWEST_FIRST = 1000;
const CHECKED_AT_ONCE = 200;

export type Folder = {
  readonly sourcePath: string;
  readonly isInbox: boolean;
  /** Where it goes; it is there by then. @throws {FolderLeft} when it can't be created */
  readonly destination: () => Promise<string>;
  /** Makes it anew when it has been deleted. @throws {MailError} */
  readonly create: (path: string) => Promise<void>;
  /** Of the messages with the mark those that forwarding has brought already. */
  readonly forwarded: (marked: readonly Listed[], session: Session) => Promise<ReadonlySet<number>>;
};

/** What a mailbox of the source holds, and what of it forwarding has brought already. */
export type FolderListing = Listing & { readonly leftOut: ReadonlySet<number> };

/** @throws {MailError}, {@link FolderLeft} */
export async function listFolder(folder: Folder, keyword: string, session: Session, run: Run): Promise<FolderListing> {
  const listing = await list(folder, keyword, session);
  const leftOut = await folder.forwarded(listing.marked, session);
  run.count(folder.sourcePath, {
    done: 0,
    total: listing.messages.length - leftOut.size,
    bytes: 0,
    kept: 0,
    octetsLeft: run.known.has(folder.sourcePath)
      ? null
      : octetsOf(listing.messages.filter(({ uid }) => !leftOut.has(uid))),
  });
  return { ...listing, leftOut };
}

/**
 * Copies what of a mailbox has no row yet, from wherever an earlier run left it. Can be repeated with a new listing
 * after any failure: it settles what may have been stored before anything is appended.
 * @returns how many messages waited
 * @throws {MailError}, {@link FolderLeft}, {@link LeaseLost}, {@link Stopped}
 */
export async function copyFolder(
  folder: Folder,
  listing: FolderListing,
  session: Session,
  run: Run,
  goesOn: () => boolean,
): Promise<number> {
  const { ledger, onStep } = run.copy;
  const { sourcePath } = folder;
  const { opened, unlisted, leftOut } = listing;
  const [mailbox] = await ledger.addMailboxes([
    {
      sourcePath,
      sourceUidValidity: opened.uidValidity,
      destinationPath: await folder.destination(),
      total: listing.messages.length - leftOut.size + unlisted,
      ...(unlisted > 0 ? { reason: 'mailbox not complete' } : {}),
    },
  ]);
  if (mailbox === undefined) throw new Error('The ledger gave no mailbox back.');
  await onStep('listed', sourcePath);
  const older = olderOf(mailbox, run);
  const known = await readRows(mailbox, run);
  await takeOverOlder(older, mailbox, listing, known, session, run);
  const waiting = () => listing.messages.filter(({ uid }) => !known.settled.has(uid) && !leftOut.has(uid));
  const todo = waiting().length;
  run.count(sourcePath, {
    ...known.count,
    done: known.settled.size,
    total: known.settled.size + todo,
    octetsLeft: octetsOf(waiting()),
  });
  const open = await ledger.groups();
  const groups = open.filter(({ mailboxId }) => mailboxId === mailbox.id || older.some(({ id }) => id === mailboxId));
  if (todo > 0 || groups.length > 0) {
    const selected = await select(folder, mailbox.destinationPath, session);
    if ([...known.validities].some((validity) => validity !== selected.uidValidity)) {
      await findAnew(mailbox, selected.uidValidity, session, run);
      return copyFolder(folder, listing, session, run, goesOn);
    }
    await reopen(session, sourcePath, opened);
    const claims = new Set(await ledger.claimed(mailbox.destinationPath, selected.uidValidity));
    if (groups.length > 0) {
      const wanted = wantedOf(groups, mailbox, waiting(), known.settled);
      const rows = await settleOpen(groups, wanted, mailbox, claims, session, run);
      for (const row of rows) known.settled.add(row.uid);
      run.settled(sourcePath, rows);
    }
    let lookFrom = selected.uidNext ?? 1;
    try {
      await sendMessages(ordered(waiting(), folder), {
        mailbox,
        selected,
        session,
        run,
        goesOn,
        claims,
        resolve: async (unsaid, ids) => {
          lookFrom = await settleUnsaid(unsaid, ids, { mailbox, selected, from: lookFrom, claims, session, run });
        },
      });
    } catch (error) {
      throw await refusalOf(error, folder, mailbox.destinationPath);
    }
  }
  for (const check of known.checks) run.check(check);
  return todo;
}

/** UIDs of the listing mean nothing under another UIDVALIDITY. */
async function reopen({ reader }: Session, path: string, { uidValidity }: Opened): Promise<void> {
  const opened = await reader.open(path);
  if (opened.uidValidity !== uidValidity)
    throw new MailError('lost', 'The UIDVALIDITY of the source mailbox has changed.');
}

function octetsOf(messages: readonly Planned[]): number {
  return messages.reduce((octets, { size }) => octets + size, 0);
}

async function list(folder: Folder, keyword: string, { reader }: Session): Promise<Listing> {
  try {
    return await listMailbox(reader, folder.sourcePath, keyword);
  } catch (error) {
    if (error instanceof MailError && error.fault === 'refused') throw new FolderLeft('mailbox unreadable', error);
    throw error;
  }
}

/** A mailbox that has been deleted under way is made anew, and then all of this begins again. */
async function refusalOf(error: unknown, folder: Folder, path: string): Promise<unknown> {
  if (!(error instanceof MailError) || error.fault !== 'refused') return error;
  if (error.responseCode !== 'TRYCREATE' && error.responseCode !== 'NONEXISTENT')
    return new FolderLeft('mailbox closed', error);
  try {
    await folder.create(path);
    return new MailError('lost', 'The mailbox was made anew.', { cause: error });
  } catch (refusal) {
    return refusal instanceof MailError && refusal.fault === 'refused'
      ? new FolderLeft('mailbox not created', refusal)
      : refusal;
  }
}

/** Makes the mailbox when it is missing: deleted at the destination meanwhile, or not there yet. */
async function select(folder: Folder, path: string, { writer }: Session): Promise<Selected> {
  try {
    return await writer.select(path);
  } catch (error) {
    if (!isRefused(error)) throw error;
  }
  try {
    await folder.create(path);
    return await writer.select(path);
  } catch (error) {
    if (isRefused(error)) throw new FolderLeft('mailbox not created', error);
    throw error;
  }
}

function isRefused(error: unknown): error is MailError {
  return error instanceof MailError && error.fault === 'refused';
}

/** The newest of the inbox first, otherwise in the order of the source. */
function ordered(messages: readonly Planned[], { isInbox }: Folder): readonly Planned[] {
  if (!isInbox) return messages;
  return [...messages.slice(-NEWEST_FIRST), ...messages.slice(0, -NEWEST_FIRST)];
}

type KnownRows = {
  readonly settled: Set<number>;
  readonly validities: ReadonlySet<bigint>;
  readonly checks: readonly Check[];
  readonly count: FolderCount;
};

const AT_DESTINATION: ReadonlySet<string> = new Set(['stored', 'kept', 'changed', 'twin']);

async function readRows(mailbox: LedgerMailbox, { copy }: Run): Promise<KnownRows> {
  const settled = new Set<number>();
  const validities = new Set<bigint>();
  const checks: Check[] = [];
  const count: FolderCount = { done: 0, total: 0, bytes: 0, kept: 0, octetsLeft: null };
  let unchecked: { uidValidity: bigint; messages: Check['messages'][number][] } | undefined;
  for await (const page of copy.ledger.rows(mailbox.id))
    for (const row of page) {
      const { uid, fate, size, date, sha256, destinationUid, destinationUidValidity: uidValidity } = row;
      settled.add(uid);
      if (!AT_DESTINATION.has(fate) || uidValidity === undefined || destinationUid === undefined) continue;
      validities.add(uidValidity);
      if (!row.earlier && fate !== 'twin') count.bytes += size;
      if (fate === 'kept') count.kept += 1;
      if (row.verified || sha256 === undefined || (fate !== 'stored' && fate !== 'kept')) continue;
      if (unchecked?.uidValidity !== uidValidity || unchecked.messages.length >= CHECKED_AT_ONCE) {
        unchecked = { uidValidity, messages: [] };
        checks.push({ mailbox, ...unchecked });
      }
      const { subject } = row;
      unchecked.messages.push({
        uid,
        destinationUid,
        size,
        sha256,
        date,
        fate,
        ...(subject === undefined ? {} : { subject }),
      });
    }
  return { settled, validities, checks, count };
}

/**
 * After a new UIDVALIDITY at the source, messages are known by their octets and date: the row of the old one becomes the
 * row of the new one.
 */
async function takeOverOlder(
  older: readonly LedgerMailbox[],
  mailbox: LedgerMailbox,
  listing: Listing,
  known: KnownRows,
  { reader }: Session,
  run: Run,
): Promise<void> {
  const { ledger } = run.copy;
  const rows = new Map<string, { readonly from: LedgerMailbox; readonly row: Row }[]>();
  const looks = new Set<string>();
  for (const from of older)
    for await (const page of ledger.rows(from.id))
      for (const row of page) {
        if (row.sha256 === undefined || (!AT_DESTINATION.has(row.fate) && row.fate !== 'taken')) continue;
        const key = `${row.sha256} ${row.date}`;
        rows.set(key, [...(rows.get(key) ?? []), { from, row }]);
        looks.add(`${row.date}`);
      }
  if (rows.size === 0) return;
  const alike = listing.messages.filter(({ uid, date }) => !known.settled.has(uid) && looks.has(`${date}`));
  const dates = new Map(alike.map((message) => [message.uid, message.date]));
  for (const uids of inParts(alike.map((message) => message.uid))) {
    const taken: NewRow[] = [];
    const forgotten = new Map<number, number[]>();
    for await (const { uid, octets } of reader.fetch(mailbox.sourcePath, uids)) {
      const { sha256 } = await digestOf(octets);
      const same = rows.get(`${sha256} ${dates.get(uid)}`)?.shift();
      if (same === undefined) continue;
      taken.push({ ...same.row, uid, mailboxId: mailbox.id });
      forgotten.set(same.from.id, [...(forgotten.get(same.from.id) ?? []), same.row.uid]);
    }
    await ledger.settle(taken);
    for (const [id, old] of forgotten) await ledger.forget(id, old);
    for (const row of taken) known.settled.add(row.uid);
  }
}

/** The same folder under UIDVALIDITYs that it had before. */
function olderOf(mailbox: LedgerMailbox, { known }: Run): readonly LedgerMailbox[] {
  const all = known.get(mailbox.sourcePath) ?? [];
  if (!all.some(({ id }) => id === mailbox.id)) known.set(mailbox.sourcePath, [...all, mailbox]);
  return all.filter(({ id, destinationPath }) => id !== mailbox.id && destinationPath === mailbox.destinationPath);
}

/**
 * Messages that open groups may have stored. Of a group under an older UIDVALIDITY of the source they have new UIDs, and
 * are known by size and date.
 */
function wantedOf(
  groups: readonly Group[],
  { id }: LedgerMailbox,
  waiting: readonly Planned[],
  settled: ReadonlySet<number>,
): readonly Planned[] {
  const wanted = new Map<number, Planned>();
  const looks = new Set<string>();
  for (const { mailboxId, messages } of groups)
    for (const message of messages) {
      if (mailboxId !== id) looks.add(`${message.size} ${message.date}`);
      else if (!settled.has(message.uid)) wanted.set(message.uid, message);
    }
  for (const message of waiting) if (looks.has(`${message.size} ${message.date}`)) wanted.set(message.uid, message);
  return [...wanted.values()];
}

/** Settles open groups of a death: what is stored gets its row, what the source has lost is gone, the rest waits again. */
async function settleOpen(
  groups: readonly Group[],
  wanted: readonly Planned[],
  mailbox: LedgerMailbox,
  claims: Set<number>,
  session: Session | (Omit<Session, 'reader' | 'writer'> & { readonly reader: null }),
  run: Run,
): Promise<readonly NewRow[]> {
  const { ledger, onStep } = run.copy;
  const checker = await session.checker();
  const { uidValidity } = await checker.open(mailbox.destinationPath);
  const from = Math.min(...groups.map((group) => (group.uidValidity === uidValidity ? group.uidNext : 1)));
  const candidates: Listed[] = [];
  for await (const listed of listedFrom(checker, mailbox.destinationPath, from))
    if (!claims.has(listed.uid)) candidates.push(listed);
  const source = session.reader === null ? null : { reader: session.reader, path: mailbox.sourcePath };
  const destination = { reader: checker, path: mailbox.destinationPath };
  const { found, gone } = await match(wanted, source, candidates, destination);
  const rows: NewRow[] = [];
  for (const { uid, size, date } of wanted) {
    const one = found.get(uid);
    const base = { uid, date, mailboxId: mailbox.id };
    if (one !== undefined) {
      claims.add(one.destinationUid);
      rows.push({ ...base, ...one, destinationUidValidity: uidValidity, verified: true });
    } else if (gone.has(uid) || source === null) rows.push({ ...base, size, fate: 'gone', verified: false });
  }
  const refused = await ledger.settle(
    rows,
    groups.map((group) => group.id),
  );
  await onStep('recovered', mailbox.sourcePath);
  return rows.filter((row) => !refused.includes(row));
}

/**
 * Settles what waits under a mailbox or UIDVALIDITY that the source no longer has: what may have been appended is looked
 * for; the rest is gone, or is listed anew somewhere else.
 */
export async function settleAbandoned(
  mailbox: LedgerMailbox,
  groups: readonly Group[],
  session: Session,
  run: Run,
): Promise<void> {
  const { settled } = await readRows(mailbox, run);
  const checker = await session.checker();
  let opened: Opened;
  try {
    opened = await checker.open(mailbox.destinationPath);
  } catch (error) {
    if (!(error instanceof MailError) || error.fault !== 'refused') throw error;
    await run.copy.ledger.settle(
      [],
      groups.map((group) => group.id),
    );
    return;
  }
  const claims = new Set(await run.copy.ledger.claimed(mailbox.destinationPath, opened.uidValidity));
  const wanted = wantedOf(groups, mailbox, [], settled);
  await settleOpen(groups, wanted, mailbox, claims, { ...session, reader: null }, run);
}

type Looking = {
  readonly mailbox: LedgerMailbox;
  readonly selected: Selected;
  readonly from: number;
  readonly claims: Set<number>;
  readonly session: Session;
  readonly run: Run;
};

/**
 * Finds what was stored without its UID being said, and reads it back with that. The server has it, so it is never
 * appended again: what is not found was kept once with an equal one, or is lost.
 * @returns from which UID on to look the next time
 */
async function settleUnsaid(unsaid: readonly Unsaid[], groups: readonly number[], looking: Looking): Promise<number> {
  const { mailbox, claims, session, run } = looking;
  const { ledger, onStep } = run.copy;
  const path = mailbox.destinationPath;
  const checker = await session.checker();
  const { uidValidity } = await checker.open(path);
  const from = uidValidity === looking.selected.uidValidity ? looking.from : 1;
  const candidates: Listed[] = [];
  let next = from;
  for await (const listed of listedFrom(checker, path, from)) {
    next = Math.max(next, listed.uid + 1);
    if (!claims.has(listed.uid)) candidates.push(listed);
  }
  const source = { reader: session.reader, path: mailbox.sourcePath };
  const { found } = await match(unsaid, source, candidates, { reader: checker, path });
  const digests = new Set<string>();
  for (const one of found.values()) digests.add(one.sha256);
  const missing = unsaid.filter((message) => !found.has(message.uid));
  if (missing.some((message) => !digests.has(message.sha256)))
    for await (const page of ledger.rows(mailbox.id))
      for (const row of page) if (row.sha256 !== undefined && AT_DESTINATION.has(row.fate)) digests.add(row.sha256);
  const rows = unsaid.map((message): NewRow => {
    const one = found.get(message.uid);
    const base = { ...message, mailboxId: mailbox.id };
    if (one === undefined) return { ...base, fate: digests.has(message.sha256) ? 'twin' : 'lost', verified: false };
    claims.add(one.destinationUid);
    const { fate, destinationUid } = one;
    return { ...base, fate, destinationUid, destinationUidValidity: uidValidity, verified: true };
  });
  await ledger.settle(rows, groups);
  run.settled(mailbox.sourcePath, rows);
  await onStep('outcome committed', mailbox.sourcePath);
  return next;
}

/**
 * The destination has another UIDVALIDITY than rows have: their UIDs mean nothing any more. Each message is looked for
 * by its digest over the whole mailbox. One that had been read back and is not there was taken away; one that had not
 * been waits again.
 */
export async function findAnew(mailbox: LedgerMailbox, uidValidity: bigint, session: Session, run: Run): Promise<void> {
  const { ledger, onStep } = run.copy;
  const path = mailbox.destinationPath;
  const checker = await session.checker();
  const opened = await checker.open(path);
  const hasWindow = isWindow(opened.exists, run.copy.destination.limits);
  const claims = await ledger.claimed(path, uidValidity);
  const stale = new Map<number, Row>();
  for await (const page of ledger.rows(mailbox.id))
    for (const row of page)
      if (
        AT_DESTINATION.has(row.fate) &&
        row.destinationUid !== undefined &&
        row.destinationUidValidity !== uidValidity
      )
        stale.set(row.uid, row);
  const candidates: Listed[] = [];
  for await (const listed of listedFrom(checker, path, 1)) if (!claims.has(listed.uid)) candidates.push(listed);
  const rows = [...stale.values()];
  const source = { reader: session.reader, path: mailbox.sourcePath };
  await session.reader.open(mailbox.sourcePath);
  const { found } = await match(rows, source, candidates, { reader: checker, path });
  const settled: NewRow[] = [];
  const forgotten: number[] = [];
  for (const row of rows) {
    const one = found.get(row.uid);
    const base = { ...row, mailboxId: mailbox.id };
    if (one !== undefined) {
      const { fate, destinationUid } = one;
      settled.push({ ...base, fate, destinationUid, destinationUidValidity: uidValidity, verified: true });
    } else if (row.fate === 'twin' || hasWindow) {
      // Behind the window nothing can be seen, and nothing is appended a second time for that.
      const { destinationUid: _, destinationUidValidity: __, ...twin } = base;
      settled.push(twin);
    } else if (row.verified) settled.push({ ...base, fate: 'taken' });
    else forgotten.push(row.uid);
  }
  await ledger.settle(settled);
  if (forgotten.length > 0) await ledger.forget(mailbox.id, forgotten);
  await onStep('recovered', mailbox.sourcePath);
}
