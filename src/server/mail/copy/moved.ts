import { isRefusal, type MailError, unlessRefused } from '../imap/mail-error.ts';
import type { Listed, MailReader } from '../imap/streams.ts';
import type { LedgerMailbox, Row } from './ledger.ts';
import { listedFrom, match, type Place, type Wanted } from './matching.ts';
import { fold } from './mapping.ts';
import type { Run } from './run.ts';

/**
 * Whether a mailbox that can't be opened is not there: the server says so, or neither lists it nor tells of it.
 * @param listed the paths that the account has
 */
export async function isMissing(reader: MailReader, path: string, listed: readonly string[]): Promise<boolean> {
  const refusal = await refusalOf(reader.open(path));
  if (refusal?.responseCode === 'NONEXISTENT' || refusal?.responseCode === 'TRYCREATE') return true;
  if (refusal === null || path === 'INBOX' || listed.some((each) => fold(each) === fold(path))) return false;
  return (await refusalOf(reader.status(path))) !== null;
}

async function refusalOf(asking: Promise<unknown>): Promise<MailError | null> {
  try {
    await asking;
    return null;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return error;
  }
}

/** The source mailbox of rows, opened; `null` when it has another UIDVALIDITY by now, under which their UIDs mean nothing. */
export async function openSource(
  reader: MailReader,
  { sourcePath, sourceUidValidity }: LedgerMailbox,
): Promise<Place | null> {
  const opened = await unlessRefused(reader.open(sourcePath));
  return opened?.uidValidity === sourceUidValidity ? { reader, path: sourcePath } : null;
}

/**
 * Which of the messages that have left a mailbox stand in another one of the destination, where they are nobody's.
 * @param source opened, or `null` when it can't be asked
 * @returns their source UIDs
 */
export async function findMoved(
  missing: readonly (Wanted & Pick<Row, 'fate'>)[],
  from: string,
  paths: readonly string[],
  source: Place | null,
  checker: MailReader,
  run: Run,
): Promise<ReadonlySet<number>> {
  const moved = new Set<number>();
  for (const path of paths) {
    const wanted = missing.filter(({ uid }) => !moved.has(uid));
    if (wanted.length === 0) break;
    const opened = path === from ? null : await unlessRefused(checker.open(path));
    if (opened === null) continue;
    const claims = await run.copy.ledger.claimed(path, opened.uidValidity);
    const candidates: Listed[] = [];
    for await (const listed of listedFrom(checker, path, 1)) if (!claims.has(listed.uid)) candidates.push(listed);
    const { found } = await match(wanted, source, candidates, { reader: checker, path });
    // Another message with its Message-ID and date is no sign of a twin.
    const twins = new Set(wanted.flatMap(({ uid, fate }) => (fate === 'twin' ? [uid] : [])));
    for (const [uid, { fate }] of found) if (fate !== 'changed' || !twins.has(uid)) moved.add(uid);
  }
  return moved;
}
