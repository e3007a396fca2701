import { unlessRefused } from '../imap/mail-error.ts';
import type { MailReader } from '../imap/streams.ts';
import { digestOf, secondsOf } from './digest.ts';
import type { LedgerMailbox, Row } from './ledger.ts';
import type { Run } from './run.ts';

/** So many messages are read to be sure, the first and the last among them. */
const READ_AT_MOST = 5;

/**
 * Knows folders of the source again that have another name by now: a new one under the UIDVALIDITY of one that is gone,
 * in which every message that has a row, or was on its way when a worker died, is as the ledger says. What is new in it
 * goes where the rest of it went.
 * @param current the paths that the source has
 * @returns the paths that these had before
 */
export async function followRenames(
  current: ReadonlySet<string>,
  reader: MailReader,
  run: Run,
): Promise<readonly string[]> {
  const renamed: string[] = [];
  const { known } = run;
  const { ledger } = run.copy;
  for (const path of current) {
    if (known.has(path)) continue;
    const uidValidity = (await unlessRefused(reader.status(path)))?.uidValidity;
    const alike = [...known].flatMap(([before, mailboxes]) =>
      current.has(before) ? [] : mailboxes.filter((mailbox) => mailbox.sourceUidValidity === uidValidity),
    );
    for (const mailbox of alike) {
      // One that lets nobody in is left to the copy, which says so.
      if ((await unlessRefused(isSameFolder(path, mailbox, reader, run))) !== true) continue;
      const moved = known.get(mailbox.sourcePath) ?? [];
      await ledger.rename(
        moved.map(({ id }) => id),
        path,
      );
      renamed.push(mailbox.sourcePath);
      known.delete(mailbox.sourcePath);
      known.set(
        path,
        moved.map((each) => ({ ...each, sourcePath: path })),
      );
      break;
    }
  }
  return renamed;
}

/** Whether there is a folder that may have been renamed. */
export function mayBeRenamed(current: ReadonlySet<string>, { known }: Pick<Run, 'known'>): boolean {
  return [...known.keys()].some((path) => !current.has(path)) && [...current].some((path) => !known.has(path));
}

async function isSameFolder(path: string, { id }: LedgerMailbox, reader: MailReader, { copy }: Run): Promise<boolean> {
  const known = new Map<number, Pick<Row, 'uid' | 'date' | 'sha256'>>();
  for (const { mailboxId, messages } of await copy.ledger.groups())
    if (mailboxId === id) for (const message of messages) known.set(message.uid, message);
  for await (const page of copy.ledger.rows(id)) for (const row of page) known.set(row.uid, row);
  if (known.size === 0) return false;
  let isThere = false;
  const digested: Pick<Row, 'uid' | 'sha256'>[] = [];
  // What was asked for is read to its end: the connection is used for the next one.
  let differs = false;
  const opened = await reader.open(path);
  if (opened.exists > 0)
    for await (const page of reader.list(path))
      for (const { uid, internalDate } of page) {
        const message = known.get(uid);
        if (message === undefined) continue;
        isThere = true;
        // Not by its size: a row has that of its octets, which some servers list otherwise.
        differs ||= message.date !== secondsOf(internalDate);
        if (message.sha256 !== undefined) digested.push(message);
      }
  if (differs || !isThere) return false;
  const read = new Map(spread(digested, READ_AT_MOST).map(({ uid, sha256 }) => [uid, sha256]));
  if (read.size === 0) return true;
  for await (const { uid, octets } of reader.fetch(path, [...read.keys()])) {
    const { sha256 } = await digestOf(octets);
    differs ||= read.get(uid) !== sha256;
  }
  return !differs;
}

/** At most so many of them, at equal distances. */
function spread<Item>(items: readonly Item[], most: number): Item[] {
  if (items.length <= most) return [...items];
  return Array.from({ length: most }, (_, at) => items[Math.round((at * (items.length - 1)) / (most - 1))] as Item);
}
