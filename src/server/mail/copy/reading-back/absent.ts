import type { MailReader, Opened } from '../../imap/streams.ts';
import type { LedgerMailbox, NewRow, Row } from '../ledger/ledger.ts';
import { inParts, isUnlisted, listedAmong, listedFrom } from '../looking/looking.ts';
import { openUnlessMissing } from '../mailboxes/missing.ts';
import { findMoved, openSource } from '../mailboxes/moved.ts';
import { digestOf, secondsOf } from '../message/digest.ts';
import { isWindow } from '../run/provider-limits.ts';
import type { Check, CheckSession, Run, Unchecked } from '../run/run.ts';
import { destinationPlace, fetchReadable } from '../troubles/breaks.ts';
import { refusedForNow } from '../troubles/troubles.ts';
import { rowOf, type Findings } from './read-back.ts';

/**
 * Settles messages that are not where they were stored: kept once with an equal one, moved into another mailbox,
 * removed since, or lost. Under another UIDVALIDITY they are to be found anew.
 * @param late receives those that are not reported as removed or lost as long as the operation may wait: some servers
 *   show late what they have stored
 * @throws {MailError} if the destination still has the mailbox but does not let us open it, so that nothing is known
 */
export async function settleAbsent(
  path: string,
  absent: Findings['absent'],
  session: CheckSession,
  run: Run,
  late: Findings['late'],
): Promise<void> {
  const { checker } = session;
  const opened = await openUnlessMissing(path, checker, run);
  const isHere = ({ check }: Findings['absent'][number]) => opened === null || check.uidValidity === opened.uidValidity;
  const here = absent.filter(isHere);
  for (const each of absent) if (!isHere(each)) run.stale.add(each.check.mailbox.id);
  // They may all be there if the mailbox could not be opened for a moment: then the last look finds them unread.
  const uids = opened === null ? [] : here.map(({ message }) => message.destinationUid);
  const listed = await listedAmong({ reader: checker, path }, uids);
  // Listings are unreliable.
  if (uids.some((uid) => !listed.has(uid))) for (const uid of await checker.search(path)) listed.add(uid);
  let newest = 0;
  for (const uid of listed) newest = Math.max(newest, uid);
  const open = new Map(
    here.flatMap(({ message, check }) => (listed.has(message.destinationUid) ? [] : [[message, check]])),
  );
  if (open.size === 0) return;
  const waits = refusedForNow(run.copy) !== null;
  // It may be shown later, as nothing that came after it is shown either.
  const mayShow = ({ destinationUid }: Unchecked) => waits && opened !== null && destinationUid > newest;
  if (opened !== null) await settleTwins(path, opened, open, mayShow, checker, run);
  for (const [mailbox, left] of Map.groupBy(open, ([, check]) => check.mailbox)) {
    const source = await openSource(await session.reader(), mailbox, run);
    const isReadable = source !== 'in trouble';
    const { moved, isSure } = await findMoved(
      left.map(([message, { uidValidity }]) => ({ ...message, destinationUidValidity: uidValidity })),
      mailbox,
      run.destinationPaths(),
      isReadable ? source : null,
      checker,
      run,
    );
    const hasTwins = left.some(([{ fate }]) => fate === 'twin');
    const standsFor = hasTwins ? await standingOf(mailbox, here, run) : new Set<string>();
    // A UID that the mailbox has assigned and does not list belongs to a message that was expunged.
    const assigned = opened === null ? Infinity : (opened.uidNext ?? 0);
    const rows = left.flatMap(([message, { uidValidity }]): NewRow | [] => {
      if (moved.has(message.uid)) return rowOf(message, mailbox.id, uidValidity, 'taken');
      // It may be shown later, or be where nobody can look for now.
      if (mayShow(message) || (waits && !(isSure && isReadable))) {
        late.add(message);
        return [];
      }
      const isAlone = message.fate === 'twin' && !standsFor.has(standing(message));
      const isLost = message.destinationUid >= assigned || isAlone;
      if (isLost) return rowOf(message, mailbox.id, uidValidity, 'lost');
      return { ...rowOf(message, mailbox.id, uidValidity, 'taken'), reason: 'removed' };
    });
    await run.copy.ledger.settle(rows);
  }
}

function standing({ destinationUid, sha256 }: Pick<Row, 'destinationUid' | 'sha256'>): string {
  return `${destinationUid} ${sha256}`;
}

/**
 * Messages of a mailbox that a twin may stand for: read back and found to be what was sent, taken away, or absent
 * themselves, as a twin has gone together with them. A twin of none of these was never seen, and is lost.
 */
async function standingOf(
  { id }: LedgerMailbox,
  absent: Findings['absent'],
  { copy }: Run,
): Promise<ReadonlySet<string>> {
  const standsFor = new Set<string>();
  for (const { message } of absent) if (message.fate !== 'twin') standsFor.add(standing(message));
  for await (const page of copy.ledger.rows(id))
    for (const row of page)
      if (row.fate === 'taken' || (row.verified && row.fate !== 'twin' && row.fate !== 'changed'))
        standsFor.add(standing(row));
  return standsFor;
}

/**
 * Settles as twins messages of which the same mailbox has an equal one, unless they may be shown later themselves.
 * Those behind a window, which are there, are left out.
 */
async function settleTwins(
  path: string,
  { exists, uidValidity }: Opened,
  open: Map<Unchecked, Check>,
  mayShow: (message: Unchecked) => boolean,
  checker: MailReader,
  run: Run,
): Promise<void> {
  const looks = new Set([...open.keys()].map(({ size, date }) => `${size} ${date}`));
  const alike: number[] = [];
  let lowest = Infinity;
  for await (const listed of listedFrom(checker, path, 1)) {
    lowest = Math.min(lowest, listed.uid);
    if (isUnlisted(listed) || looks.has(`${listed.size} ${secondsOf(listed.internalDate)}`)) alike.push(listed.uid);
  }
  if (isWindow(exists, run.copy.destination.limits))
    for (const message of open.keys())
      if (message.fate !== 'twin' && message.destinationUid < lowest) open.delete(message);
  const rows: NewRow[] = [];
  const place = destinationPlace(checker, path, uidValidity);
  for (const uids of inParts(alike))
    for await (const { octets } of fetchReadable(place, uids, run, { isAskedAgain: true })) {
      const { sha256 } = await digestOf(octets);
      for (const [message, { mailbox, uidValidity }] of open) {
        if (message.sha256 !== sha256 || mayShow(message)) continue;
        rows.push(rowOf(message, mailbox.id, uidValidity, 'twin'));
        open.delete(message);
      }
    }
  if (rows.length > 0) await run.copy.ledger.settle(rows);
}
