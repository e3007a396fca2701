import { MailError } from '../../imap/mail-error.ts';
import type { Listed, Opened } from '../../imap/streams.ts';
import type { LedgerMailbox, Row } from '../ledger/ledger.ts';
import { AT_DESTINATION } from '../looking/known-rows.ts';
import { listedFrom } from '../looking/looking.ts';
import { match } from '../looking/matching.ts';
import type { Found } from '../looking/wanted.ts';
import { isWindow } from '../run/provider-limits.ts';
import type { Run, Session } from '../run/run.ts';
import { destinationPlace, sourcePlace } from '../troubles/breaks.ts';
import { refusedForNow } from '../troubles/troubles.ts';
import { findMoved, openBeside } from './moved.ts';

/**
 * For a destination that has another UIDVALIDITY than the rows, so that their UIDs mean nothing any more: looks for
 * each message by its digest in the whole mailbox. One that had been read back and is not there was taken away; one
 * that had not been read back waits again, unless it is in another mailbox by now.
 */
export async function findAnew(mailbox: LedgerMailbox, uidValidity: bigint, session: Session, run: Run): Promise<void> {
  const { ledger, onStep } = run.copy;
  const { sourcePath, destinationPath: path } = mailbox;
  const { checker, reader } = session;
  const { exists } = await checker.open(path);
  const claims = await ledger.claimed(path, uidValidity);
  const { stale, there } = await rowsOf(mailbox, uidValidity, run);
  const candidates: Listed[] = [];
  for await (const listed of listedFrom(checker, path, 1)) if (!claims.has(listed.uid)) candidates.push(listed);
  const asked = await openBeside(reader, sourcePath, run);
  const now = asked === 'in trouble' ? null : asked;
  if (isListedFirst(sourcePath, now, run)) return;
  const isSame = now?.uidValidity === mailbox.sourceUidValidity;
  const source = isSame ? sourcePlace(reader, sourcePath, mailbox.sourceUidValidity) : null;
  const destination = destinationPlace(checker, path, uidValidity);
  const { found, unseen } = await match(stale, candidates, { source, destination, run }, { readsRest: true });
  run.askAgain(unseen);
  for (const { uid, sha256 } of stale) {
    const one = found.get(uid);
    if (one?.isRead === true && one.fate !== 'changed') there.add(sha256);
  }
  const hasWindow = isWindow(exists, run.copy.destination.limits);
  // A message in a provider's own form is recognised only with the source: one that is not found without it may be
  // there.
  const judged = source === null ? stale.filter((row) => found.has(row.uid) || isKnownByDigest(row)) : stale;
  const outcomes = judged.map((row) => ({
    row,
    anew: settledAnew(row, found.get(row.uid), uidValidity, there, hasWindow),
  }));
  const missing = outcomes.flatMap(({ row, anew }) => (anew === null ? [row] : []));
  const { moved, isSure } = await findMoved(missing, mailbox, run.destinationPaths(), source, checker, run);
  const settled = [
    ...outcomes.flatMap(({ anew }) => anew ?? []),
    ...missing.filter(({ uid }) => moved.has(uid)).map((row) => ({ ...row, fate: 'taken' as const })),
  ];
  await ledger.settle(settled.map((row) => ({ ...row, mailboxId: mailbox.id })));
  if (!isSure && missing.length > moved.size && refusedForNow(run.copy) !== null)
    throw new MailError('busy', 'What is missing may be where nobody can look.', { responseCode: 'UNAVAILABLE' });
  const forgotten = missing.flatMap(({ uid }) => (moved.has(uid) ? [] : [uid]));
  if (forgotten.length > 0) await ledger.forget(mailbox.id, forgotten);
  await onStep('recovered', sourcePath);
}

/** Whether the source has to be listed first, as the mailbox has another name or other UIDs than it was listed with. */
function isListedFirst(path: string, now: Opened | null, run: Run): boolean {
  if (now === null) return run.sourcePaths().includes(path);
  return run.known.get(path)?.some(({ sourceUidValidity }) => sourceUidValidity === now.uidValidity) !== true;
}

function isKnownByDigest({ fate, verified }: Row): boolean {
  return fate !== 'kept' && verified;
}

/**
 * The rows under another UIDVALIDITY, twins last, as one message can match one row only; and the digests of the rows
 * under this one.
 */
async function rowsOf(mailbox: LedgerMailbox, uidValidity: bigint, { copy }: Run) {
  const stale: Row[] = [];
  const there = new Set<string | undefined>();
  for await (const page of copy.ledger.rows(mailbox.id))
    for (const row of page) {
      if (!AT_DESTINATION.has(row.fate) || row.destinationUid === undefined) continue;
      if (row.destinationUidValidity !== uidValidity) stale.push(row);
      else if (row.verified && row.fate !== 'changed') there.add(row.sha256);
    }
  return { stale: [...stale.filter((row) => !isTwin(row)), ...stale.filter(isTwin)], there };
}

function isTwin({ fate }: Row): boolean {
  return fate === 'twin';
}

/** The row as it is from now on; `null` when its message may stand in another mailbox, or is to be copied again. */
function settledAnew(
  row: Row,
  found: Found | undefined,
  uidValidity: bigint,
  there: ReadonlySet<string | undefined>,
  hasWindow: boolean,
): Row | null {
  // A message with only the Message-ID and date of a twin is not the twin.
  if (found !== undefined && !(isTwin(row) && found.fate === 'changed')) {
    const { destinationUid, isRead, hasDate } = found;
    // With another date it counts as changed, unless it has been read back with the right one before.
    const isOther = !hasDate && !isTwin(row) && (!row.verified || row.fate === 'changed');
    // It was sent with another date than the source's.
    const isKept = row.fate === 'kept' && found.fate === 'stored';
    return {
      ...row,
      fate: isOther ? 'changed' : isKept ? 'kept' : found.fate,
      destinationUid,
      destinationUidValidity: uidValidity,
      verified: row.verified || isRead,
    };
  }
  const { destinationUid: _, destinationUidValidity: __, ...what } = row;
  if (isTwin(row) && (row.verified || there.has(row.sha256))) return { ...what, verified: true };
  // A message behind the window can't be seen, and must not be appended a second time for that.
  if (!isTwin(row) && hasWindow) return what;
  return row.verified ? { ...row, fate: 'taken' } : null;
}
