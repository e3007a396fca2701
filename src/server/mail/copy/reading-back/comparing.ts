import { unlessRefused } from '../../imap/mail-error.ts';
import type { MailReader } from '../../imap/streams.ts';
import { MessageList, UidSet } from '../ledger/columns.ts';
import type { LedgerMailbox, NewRow, Planned, Row } from '../ledger/ledger.ts';
import { isUnread } from '../looking/known-rows.ts';
import { inParts } from '../looking/looking.ts';
import { digestOf, secondsOf } from '../message/digest.ts';
import { isWindow } from '../run/provider-limits.ts';
import type { Run } from '../run/run.ts';
import { destinationPlace, fetchReadable } from '../troubles/breaks.ts';

/** What the final comparison of one mailbox has found. */
export type Compared = {
  readonly lost: number;
  readonly changed: number;
  readonly kept: number;
  /**
   * Messages that are equal to one of ours, have its date, have come since our first append, and belong to no row; less
   * as many of each as were taken away, as the subscriber may have put those back.
   */
  readonly duplicated: number;
  /** Rows have UIDs of another UIDVALIDITY than the mailbox has now. */
  readonly isStale: boolean;
  /** There is a message that could be read back, and was not. */
  readonly isUnread: boolean;
};

const TRIES = 3;

/**
 * Compares the ledger's rows of a mailbox with what the destination lists now. A message that had been read back and is
 * no longer listed was taken away by the subscriber; one that is behind a server's window is still there.
 */
export async function compareMailbox(mailbox: LedgerMailbox, checker: MailReader, run: Run): Promise<Compared> {
  const there = await listDestination(checker, mailbox.destinationPath);
  const { claimed, away, taken, ...counts } = await compareRows(mailbox, there, run);
  const duplicated = await countDuplicated(mailbox, there, { claimed, away }, checker, run);
  if (taken.length > 0) await run.copy.ledger.settle(taken);
  return { ...counts, duplicated };
}

/** @returns besides the counts, what {@link Rows} says, and the rows of messages that were taken away */
async function compareRows(mailbox: LedgerMailbox, there: There, { copy }: Run) {
  const { uidValidity, exists, isWhole, messages } = there;
  const hasWindow = isWindow(exists, copy.destination.limits);
  const counts = { lost: 0, changed: 0, kept: 0, isStale: false, isUnread: false };
  const claimed = new UidSet();
  const away = new Set<number>();
  const taken: NewRow[] = [];
  for await (const page of copy.ledger.rows(mailbox.id))
    for (const row of page) {
      const { fate, destinationUid: uid } = row;
      if (fate === 'lost' || fate === 'changed' || fate === 'kept') counts[fate] += 1;
      if (uid === undefined) continue;
      const isBehindWindow = hasWindow && uid < messages.lowest;
      counts.isUnread ||= isUnread(row) && !isBehindWindow;
      if (!isStored(row)) continue;
      if (row.destinationUidValidity !== uidValidity) {
        counts.isStale ||= uidValidity !== undefined;
        continue;
      }
      claimed.add(uid);
      if (!isWhole || messages.has(uid) || isBehindWindow) continue;
      away.add(row.uid);
      if (!row.verified) continue;
      taken.push({ ...row, mailboxId: mailbox.id, fate: 'taken' });
      // An earlier transfer has reported it, and its owner has taken it away since.
      if (row.earlier && fate === 'changed') counts.changed -= 1;
    }
  return { ...counts, claimed, away, taken };
}

/** `claimed`: the destination UIDs of rows; `away`: the source UIDs of messages that are not there any more. */
type Rows = { readonly claimed: UidSet; readonly away: ReadonlySet<number> };

/**
 * How many messages equal to one of ours have come since our first append, and belong to no row of the mailbox. Under
 * another UIDVALIDITY than the mailbox had at the last append, it is unknown which have come since.
 */
async function countDuplicated(
  mailbox: LedgerMailbox,
  { uidValidity, messages }: There,
  { claimed, away }: Rows,
  checker: MailReader,
  run: Run,
): Promise<number> {
  const first = mailbox.destination;
  if (first === undefined || first.uidValidity !== uidValidity) return 0;
  const newcomers = messages.filter(({ uid }) => uid >= first.uidNext && !claimed.has(uid));
  return newcomers.length === 0 ? 0 : countEqual(newcomers, mailbox, { uidValidity, away }, checker, run);
}

/** How many of these newcomers are equal to a message of ours and known to no row of another mailbox. */
async function countEqual(
  newcomers: readonly Planned[],
  mailbox: LedgerMailbox,
  { uidValidity, away }: Pick<Rows, 'away'> & { readonly uidValidity: bigint },
  checker: MailReader,
  run: Run,
): Promise<number> {
  const { ledger } = run.copy;
  const path = mailbox.destinationPath;
  const others = await ledger.claimed(path, uidValidity);
  const looks = new Map(
    newcomers.filter(({ uid }) => !others.has(uid)).map((message) => [message.uid, keyOf(message)]),
  );
  const digests = await digestsByLook(new Set(looks.values()), mailbox, uidValidity, run);
  const digestsFor = (uid: number) => digests.get(looks.get(uid) ?? '') ?? new Set();
  const putBack = await digestsAway(mailbox, away, new Set([...digests.values()].flatMap((all) => [...all])), run);
  // If the copying of the mailbox was interrupted, what was being sent may have arrived since.
  const underWay = (await ledger.groups()).flatMap(({ mailboxId, messages }) =>
    mailboxId === mailbox.id ? messages.map(keyOf) : [],
  );
  let equal = 0;
  const place = destinationPlace(checker, path, uidValidity);
  for (const uids of inParts([...looks.keys()].filter((uid) => digestsFor(uid).size > 0)))
    for await (const { uid, octets } of fetchReadable(place, uids, run, { isAskedAgain: true })) {
      const { sha256 } = await digestOf(octets);
      if (!digestsFor(uid).has(sha256)) continue;
      const arrived = underWay.indexOf(looks.get(uid) ?? '');
      const returned = putBack.indexOf(sha256);
      if (returned >= 0) putBack.splice(returned, 1);
      else if (arrived >= 0) underWay.splice(arrived, 1);
      else equal += 1;
    }
  return equal;
}

/** The digests of our messages that have one of these sizes and dates (see {@link keyOf}). */
async function digestsByLook(
  looks: ReadonlySet<string>,
  mailbox: LedgerMailbox,
  uidValidity: bigint,
  { copy }: Run,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const digests = new Map([...looks].map((look) => [look, new Set<string>()]));
  if (looks.size === 0) return digests;
  for await (const page of copy.ledger.rows(mailbox.id))
    for (const row of page)
      if (row.sha256 !== undefined && row.destinationUidValidity === uidValidity && isStored(row))
        digests.get(keyOf(row))?.add(row.sha256);
  return digests;
}

/** Those of these digests whose messages were taken away, or gave way to an equal one; one for each message. */
async function digestsAway(
  { id }: LedgerMailbox,
  away: ReadonlySet<number>,
  wanted: ReadonlySet<string>,
  { copy }: Run,
): Promise<string[]> {
  const digests: string[] = [];
  if (wanted.size === 0) return digests;
  for await (const page of copy.ledger.rows(id))
    for (const { uid, fate, sha256 } of page)
      if (sha256 !== undefined && wanted.has(sha256) && (fate === 'taken' || fate === 'twin' || away.has(uid)))
        digests.push(sha256);
  return digests;
}

/** Whether it has a message of its own at the destination. */
function isStored({ fate }: Row): boolean {
  return fate !== 'taken' && fate !== 'lost' && fate !== 'twin';
}

function keyOf({ size, date }: Pick<Planned, 'size' | 'date'>): string {
  return `${size} ${date}`;
}

type There = {
  /** Missing when the mailbox is. */
  readonly uidValidity: bigint | undefined;
  readonly exists: number;
  readonly messages: MessageList;
  /** Whether it lists as many as it counts. */
  readonly isWhole: boolean;
};

async function listDestination(checker: MailReader, path: string): Promise<There> {
  for (let attempt = 1; ; attempt += 1) {
    const messages = new MessageList();
    const { opened: opening, pages } = checker.openAndList(path);
    const opened = await unlessRefused(opening);
    if (opened === null) return { uidValidity: undefined, exists: 0, messages, isWhole: false };
    for await (const page of pages)
      for (const { uid, size, internalDate } of page) messages.set({ uid, size, date: secondsOf(internalDate) });
    const isWhole = messages.length >= opened.exists;
    const { uidValidity, exists } = opened;
    if (isWhole || attempt === TRIES) return { uidValidity, exists, messages, isWhole };
  }
}
