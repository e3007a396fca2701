import { MailError } from '../../imap/mail-error.ts';
import type { MailReader } from '../../imap/streams.ts';
import type { LedgerMailbox, Row } from '../ledger/ledger.ts';
import { digestOf, secondsOf } from '../message/digest.ts';
import { isUnsureDate } from '../message/odd-dates.ts';
import type { Run } from '../run/run.ts';
import { fetchReadable, isReadable, sourcePlace } from '../troubles/breaks.ts';
import { notingHangUps } from '../troubles/hang-ups.ts';
import { askedAgain, unlessInTrouble, validityOf } from '../troubles/troubles.ts';

/** How many messages are read to be sure, the first and the last among them. */
const READ_AT_MOST = 5;

/** What the source has now: its paths, and their UIDVALIDITY as far as it was asked for. */
export type Names = { readonly current: ReadonlySet<string>; readonly validities: ReadonlyMap<string, bigint> };

/**
 * Recognises folders of the source that have been renamed: a new name under the UIDVALIDITY of one that is gone, in
 * which every message that has a row, or was on its way when a worker died, is as the ledger says. New messages in it
 * go where the rest of it went. The old name may belong to another folder by now.
 * @returns the former paths that no folder has any more
 */
export async function followRenames(names: Names, reader: MailReader, run: Run): Promise<readonly string[]> {
  const left: string[] = [];
  const { known } = run;
  const { ledger } = run.copy;
  // By their number: both sides may have thousands that are new or gone.
  const byValidity = () =>
    Map.groupBy<bigint | null, LedgerMailbox>([...known.values()].flat(), (mailbox) => mailbox.sourceUidValidity);
  let numbered = byValidity();
  for (const path of names.current) {
    if (!isNew(path, names, run)) continue;
    const unsure = run.unsure.get(path);
    run.unsure.delete(path);
    const asked = async <Answer>(ask: () => Promise<Answer>, why: string) => {
      const asking = () => notingHangUps('source', path, reader, run, () => askedAgain(ask));
      const answer = await unlessInTrouble(asking, why, path, run, (error) => run.unsure.set(path, error));
      if (answer === null && !run.unsure.has(path))
        run.unsure.set(
          path,
          unsure ?? new MailError('busy', 'It is not asked again in this run.', { responseCode: 'UNAVAILABLE' }),
        );
      return answer;
    };
    const uidValidity = names.validities.get(path) ?? (await asked(() => validityOf(path, reader), 'status of'));
    const alike = (numbered.get(uidValidity) ?? []).filter((mailbox) => isGone(mailbox, names));
    for (const mailbox of alike) {
      if ((await asked(() => isSameFolder(path, mailbox, reader, run), 'renamed to')) !== true) continue;
      run.unsure.delete(path);
      const before = mailbox.sourcePath;
      const all = known.get(before) ?? [];
      const moved = names.current.has(before) ? [mailbox] : all;
      await ledger.rename(
        moved.map(({ id }) => id),
        path,
      );
      const others = all.filter((each) => !moved.includes(each));
      if (others.length > 0) known.set(before, others);
      else {
        known.delete(before);
        left.push(before);
      }
      known.set(path, [...moved.map((each) => ({ ...each, sourcePath: path })), ...(known.get(path) ?? [])]);
      numbered = byValidity();
      break;
    }
  }
  // Every folder that had vanished has been found.
  if (![...known.values()].flat().some((mailbox) => isGone(mailbox, names))) run.unsure.clear();
  return left;
}

/** Whether there is a folder that may have been renamed. */
export function mayBeRenamed(names: Names, run: Pick<Run, 'known'>): boolean {
  const hasGone = [...run.known.values()].flat().some((mailbox) => isGone(mailbox, names));
  return hasGone && [...names.current].some((path) => isNew(path, names, run));
}

/**
 * Whether its name is gone, or belongs to another folder now. One that is listed, but whose UIDVALIDITY can't be asked
 * for, may be gone.
 */
function isGone({ sourcePath, sourceUidValidity }: LedgerMailbox, { current, validities }: Names): boolean {
  return !current.has(sourcePath) || validities.get(sourcePath) !== sourceUidValidity;
}

function isNew(path: string, { validities }: Names, { known }: Pick<Run, 'known'>): boolean {
  const mailboxes = known.get(path) ?? [];
  const now = validities.get(path);
  return now === undefined ? mailboxes.length === 0 : mailboxes.every((mailbox) => mailbox.sourceUidValidity !== now);
}

async function isSameFolder(path: string, { id }: LedgerMailbox, reader: MailReader, run: Run): Promise<boolean> {
  const { copy } = run;
  const known = new Map<number, Pick<Row, 'uid' | 'date' | 'sha256'>>();
  for (const { mailboxId, messages } of await copy.ledger.groups())
    if (mailboxId === id) for (const message of messages) known.set(message.uid, message);
  for await (const page of copy.ledger.rows(id)) for (const row of page) known.set(row.uid, row);
  if (known.size === 0) return false;
  let isThere = false;
  const digested: Pick<Row, 'uid' | 'sha256'>[] = [];
  // The answer is read to its end in any case: the connection is used for the next one.
  let differs = false;
  const opened = await reader.open(path);
  const place = sourcePlace(reader, path, opened.uidValidity);
  if (opened.exists > 0)
    for await (const page of reader.list(path))
      for (const { uid, internalDate } of page) {
        const message = known.get(uid);
        if (message === undefined) continue;
        isThere = true;
        // Sizes are not compared: rows have the true one, which some servers list otherwise. Nor are dates that the
        // source does not give, or that some servers refuse: rows have the date that the message was sent with.
        const date = secondsOf(internalDate);
        differs ||= message.date !== null && !isUnsureDate(date, copy.clock) && message.date !== date;
        if (message.sha256 !== undefined && isReadable(place, uid, run)) digested.push(message);
      }
  if (differs || !isThere) return false;
  const read = new Map(spread(digested, READ_AT_MOST).map(({ uid, sha256 }) => [uid, sha256]));
  if (read.size === 0) return true;
  for await (const { uid, octets } of fetchReadable(place, [...read.keys()], run)) {
    const { sha256 } = await digestOf(octets);
    differs ||= read.get(uid) !== sha256;
  }
  return !differs;
}

/** At most `most` of them, evenly spaced. */
function spread<Item>(items: readonly Item[], most: number): Item[] {
  if (items.length <= most) return [...items];
  return Array.from({ length: most }, (_, at) => items[Math.round((at * (items.length - 1)) / (most - 1))] as Item);
}
