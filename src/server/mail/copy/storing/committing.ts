import { pause, type Clock } from '../../../clock.ts';
import { LeaseLost } from '../../../transfers/lease.ts';
import { MailError } from '../../imap/mail-error.ts';
import type { LedgerMailbox, NewRow } from '../ledger/ledger.ts';
import type { Orphans } from '../run/mail-copy.ts';
import type { Run, Session } from '../run/run.ts';

/**
 * Pauses, in milliseconds, between tries to settle what this worker stored after it may have lost its lease: to find
 * out whose it is, and to expunge it. After the last one, or when the process is to end, the operator is told.
 */
const AGAIN_AFTER_MS = [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 320_000];

/** Where messages were stored, over which connections, in which run. */
type Where = { readonly mailbox: LedgerMailbox; readonly session: Session; readonly run: Run };
type Waiting = { readonly clock: Clock; readonly processEnds: AbortSignal };
type Stored = { readonly uid: number; readonly uidValidity: bigint };

/**
 * Commits the outcome of messages. If another worker has taken the transfer over by now, what was stored is expunged,
 * unless that worker has claimed it.
 * @param unsaid how many more were stored without the server reporting their UIDs
 * @throws {LeaseLost} and what the database fails with
 */
export async function commitOutcome(
  rows: readonly NewRow[],
  closed: readonly number[],
  where: Where,
  unsaid = 0,
): Promise<void> {
  const { mailbox, run } = where;
  const { ledger, lease, onStep } = run.copy;
  const path = mailbox.destinationPath;
  const stored = rows.flatMap(storedBy);
  let failure: unknown;
  let unwritten: readonly NewRow[] = [];
  let disowned: readonly Stored[] | undefined;
  await again(run.copy, async () => {
    const settling = ledger.settle(rows, closed);
    failure = await failureOf(settling);
    if (failure === undefined) {
      unwritten = await settling;
      return true;
    }
    // Without database and lease it is unknown whether another worker has finished meanwhile.
    if (!(failure instanceof LeaseLost)) return lease.mayWrite() || stored.length === 0;
    const ours: Stored[] = [];
    for (const one of stored) {
      const asked = ledger.disown(path, one.uidValidity, one.uid);
      if ((await failureOf(asked)) !== undefined) return false;
      if (await asked) ours.push(one);
    }
    disowned = ours;
    return true;
  });
  if (failure === undefined) {
    run.settled(
      mailbox.sourcePath,
      rows.filter((row) => !unwritten.includes(row)),
    );
    await onStep('outcome committed', mailbox.sourcePath);
    if (unwritten.length > 0) await removeDisowned(unwritten.flatMap(storedBy), where);
    return;
  }
  if (failure instanceof LeaseLost || !lease.mayWrite()) {
    // Reported at once: the process may be killed while the others are taken back.
    leaveBehind({ uids: [], unsaid }, where);
    const left = disowned === undefined ? stored : await takeBack(disowned, where);
    leaveBehind({ uids: Array.from(left, ({ uid }) => uid), unsaid: 0 }, where);
  }
  throw failure;
}

/**
 * A server that keeps equal messages once has named, as the UID of ours, that of a message being taken back. That one
 * is expunged, and ours is stored again.
 * @throws {MailError} so that the folder is listed again
 */
async function removeDisowned(stored: readonly Stored[], { mailbox, session: { writer } }: Where): Promise<never> {
  const { uidValidity } = await writer.select(mailbox.destinationPath);
  const uids = stored.flatMap((each) => (each.uidValidity === uidValidity ? [each.uid] : []));
  if (uids.length > 0) await writer.expunge(mailbox.destinationPath, uids);
  throw new MailError('lost', 'What was stored is one with a message that is being taken back.');
}

/** Reports what another worker, having taken over before it was stored, may have stored as well. */
export function leaveBehind(left: Orphans, { mailbox, run }: Pick<Where, 'mailbox' | 'run'>): void {
  if (left.uids.length + left.unsaid > 0) run.copy.onOrphans(mailbox, left);
}

/** Without twins: their UID is that of another row's message, or of the subscriber's own. */
function storedBy({ fate, destinationUid: uid, destinationUidValidity: uidValidity }: NewRow): Stored[] {
  return uid === undefined || uidValidity === undefined || fate === 'twin' ? [] : [{ uid, uidValidity }];
}

async function failureOf(asked: Promise<unknown>): Promise<unknown> {
  try {
    await asked;
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Over a new connection: the one that stored them may not write any more. @returns what can't be taken back */
async function takeBack(stored: readonly Stored[], { mailbox, run, session }: Where): Promise<Iterable<Stored>> {
  const left = new Set(stored);
  if (left.size === 0) return left;
  const path = mailbox.destinationPath;
  await session.writer[Symbol.asyncDispose]();
  await again(run.copy, async () => {
    try {
      await using writer = await run.copy.destination.writer({ evenStopped: true });
      const selected = await writer.select(path);
      for (const each of left)
        if (each.uidValidity === selected.uidValidity) {
          await writer.expunge(path, [each.uid]);
          left.delete(each);
        }
      return true;
    } catch (error) {
      // Other errors may pass: the token comes from the database, which may be away.
      return error instanceof MailError && !error.passing;
    }
  });
  return left;
}

/**
 * Tries something until it is done, with longer and longer pauses, until there are no more pauses or the process is to
 * end.
 */
async function again({ clock, processEnds }: Waiting, attempt: () => Promise<boolean>): Promise<void> {
  for (const wait of AGAIN_AFTER_MS) {
    if (await attempt()) return;
    await pause(clock, wait, processEnds);
    if (processEnds.aborted) return;
  }
  await attempt();
}
