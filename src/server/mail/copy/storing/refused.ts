import type { Listed, Selected } from '../../imap/streams.ts';
import type { LedgerMailbox, NewRow, Planned } from '../ledger/ledger.ts';
import { listedFrom } from '../looking/looking.ts';
import { match } from '../looking/matching.ts';
import type { Found } from '../looking/wanted.ts';
import { secondsOf } from '../message/digest.ts';
import type { Run, Session } from '../run/run.ts';
import { destinationPlace, sourcePlace } from '../troubles/breaks.ts';

/** A message smaller than this, in octets, is only recognised octet for octet, not in another form. */
const TELLING = 64;

/** A message that the destination refused when it had all of it. `date`: the one it was sent with. */
export type Refused = Planned & {
  readonly sha256: string;
  readonly subject?: string;
  /** Whether it was refused alone, and its row is written. */
  readonly hasRow: boolean;
};

type Looking = {
  readonly mailbox: LedgerMailbox;
  readonly selected: Selected;
  readonly claims: Set<number>;
  readonly session: Session;
  readonly run: Run;
};

/**
 * Finds messages that the server refused but stored all the same, among those that have come since the mailbox was
 * opened and belong to no row.
 * @returns those that are there, by their UIDs at the source
 */
export async function settleRefused(refused: readonly Refused[], looking: Looking): Promise<ReadonlySet<number>> {
  const { mailbox, selected, claims, session, run } = looking;
  const { checker, reader } = session;
  const path = mailbox.destinationPath;
  const { uidValidity } = await checker.open(path);
  if (uidValidity !== selected.uidValidity) return new Set();
  const candidates: Listed[] = [];
  for await (const listed of listedFrom(checker, path, selected.uidNext ?? 1))
    if (!claims.has(listed.uid)) candidates.push(listed);
  const rows: NewRow[] = [];
  const hadRow = new Set<number>();
  // Larger messages first: a tiny one must not take the place of one of them.
  for (const isTelling of [true, false]) {
    const left = candidates.filter(({ uid }) => !claims.has(uid));
    // Only those that resemble a candidate: else each message that arrives would make us read all of them at the
    // source.
    const isThere = alikeTo(left.map(({ size, internalDate }) => ({ size, date: secondsOf(internalDate) })));
    const wanted = refused.filter((one) => one.size >= TELLING === isTelling && isThere(one));
    const isWanted = alikeTo(wanted);
    const { found } = await match(
      wanted,
      left.filter(({ size, internalDate }) => isWanted({ size, date: secondsOf(internalDate) })),
      {
        source: sourcePlace(reader, mailbox.sourcePath, mailbox.sourceUidValidity),
        destination: destinationPlace(checker, path, uidValidity),
        run,
      },
    );
    for (const { hasRow, isRedated = false, ...message } of wanted) {
      const one = found.get(message.uid);
      if (one === undefined || !(isTelling || isItself(one))) continue;
      const { destinationUid, isRead, hasDate, fate } = one;
      claims.add(destinationUid);
      const place = { destinationUid, destinationUidValidity: uidValidity };
      const row = {
        ...message,
        ...place,
        mailboxId: mailbox.id,
        fate: !hasDate ? 'changed' : isRedated ? 'kept' : fate,
        verified: isRead,
      } as const;
      rows.push(row);
      if (hasRow) hadRow.add(message.uid);
      run.budget.correct(message.size);
    }
  }
  if (rows.length === 0) return new Set();
  // What an earlier worker has disowned is not ours, and is sent again.
  const unwritten = await run.copy.ledger.settle(rows);
  const written = rows.filter((row) => !unwritten.includes(row));
  run.settled(
    mailbox.sourcePath,
    written.filter(({ uid }) => !hadRow.has(uid)),
  );
  await run.copy.onStep('outcome committed', mailbox.sourcePath);
  return new Set(written.map(({ uid }) => uid));
}

/** Whether it was found octet for octet, and with its date. */
function isItself({ fate, isRead, hasDate }: Found): boolean {
  return fate === 'stored' && isRead && hasDate;
}

type Looks = Pick<Planned, 'size' | 'date'>;

/** A test whether a message has the size or the date of one of these. */
function alikeTo(some: readonly Looks[]): (one: Looks) => boolean {
  const sizes = new Set(some.map(({ size }) => size));
  const dates = new Set(some.flatMap(({ date }) => date ?? []));
  return ({ size, date }) => sizes.has(size) || (date !== null && dates.has(date));
}
