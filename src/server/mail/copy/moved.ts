import { isRefusal, type MailError, unlessRefused } from '../imap/mail-error.ts';
import type { Listed, MailReader, Opened } from '../imap/streams.ts';
import type { Group, LedgerMailbox, Row } from './ledger.ts';
import { destinationPlace, sourcePlace, type Place } from './breaks.ts';
import { secondsOf } from './digest.ts';
import { inParts, listedFrom } from './looking.ts';
import { match, type Wanted } from './matching.ts';
import { fold } from './mapping.ts';
import type { Run } from './run.ts';
import { askedAgain, openAside, validityOf } from './troubles.ts';

/**
 * Whether a mailbox that can't be opened is not there: the server says so, or neither lists it nor tells of it; one that
 * nobody may open is there.
 * @param listed the paths that the account has
 */
export async function isMissing(reader: MailReader, path: string, listed: readonly string[]): Promise<boolean> {
  const refusal = await refusalOf(reader.open(path));
  if (refusal !== null && isOfNone(refusal)) return true;
  if (refusal === null || refusal.responseCode === 'NOPERM' || path === 'INBOX') return false;
  if (listed.some((each) => fold(each) === fold(path))) return false;
  return (await refusalOf(reader.status(path))) !== null;
}

function isOfNone({ responseCode }: MailError): boolean {
  return responseCode === 'NONEXISTENT' || responseCode === 'TRYCREATE';
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
  return opened?.uidValidity === sourceUidValidity ? sourcePlace(reader, sourcePath, sourceUidValidity) : null;
}

type Missing = Wanted & Pick<Row, 'fate' | 'destinationUid' | 'destinationUidValidity'>;

/**
 * Which of the messages that have left a mailbox are in another mailbox of the destination, where no row claims them.
 * @param source opened, or `null` when it can't be asked
 * @returns their source UIDs, and whether each of those mailboxes could be looked into or is refused
 */
export async function findMoved(
  missing: readonly Missing[],
  from: string,
  paths: readonly string[],
  source: Place | null,
  checker: MailReader,
  run: Run,
): Promise<{ readonly moved: ReadonlySet<number>; readonly isSure: boolean }> {
  const moved = await findByUid(missing, checker, run);
  let isSure = true;
  for (const path of paths) {
    const wanted = missing.filter(({ uid }) => !moved.has(uid));
    if (wanted.length === 0) break;
    if (path === from) continue;
    // Trouble with this one is not for `from` to bear.
    const opened = await openAside(path, 'looked for in', checker, run);
    if (typeof opened === 'string') {
      isSure &&= opened === 'refused';
      continue;
    }
    const claims = await run.copy.ledger.claimed(path, opened.uidValidity);
    const candidates: Listed[] = [];
    for await (const listed of listedFrom(checker, path, 1)) if (!claims.has(listed.uid)) candidates.push(listed);
    const { found } = await match(wanted, source, candidates, destinationPlace(checker, path, opened.uidValidity), run);
    // Another message with its Message-ID and date is no sign of a twin.
    const twins = new Set(wanted.flatMap(({ uid, fate }) => (fate === 'twin' ? [uid] : [])));
    for (const [uid, { fate, isRead }] of found) if (isRead && (fate !== 'changed' || !twins.has(uid))) moved.add(uid);
  }
  return { moved, isSure };
}

/** Messages that have gone together with their mailbox, which has been renamed: there they have the same UIDs. */
async function findByUid(missing: readonly Missing[], checker: MailReader, run: Run): Promise<Set<number>> {
  const moved = new Set<number>();
  const byValidity = Map.groupBy(missing, ({ destinationUidValidity }) => destinationUidValidity);
  for await (const [uidValidity, path] of renamedAmong([...byValidity.keys()], checker, run)) {
    const looks = new Map<number, { readonly size: number; readonly date: number | null }>();
    for (const uids of inParts((byValidity.get(uidValidity) ?? []).map(({ destinationUid = 0 }) => destinationUid)))
      for await (const page of checker.look(path, uids))
        for (const { uid, size, internalDate } of page) looks.set(uid, { size, date: secondsOf(internalDate) });
    for (const { uid, destinationUid = 0, date, size } of byValidity.get(uidValidity) ?? []) {
      const look = looks.get(destinationUid);
      if (look !== undefined && (look.date === date || look.size === size)) moved.add(uid);
    }
  }
  return moved;
}

/**
 * Mailboxes that have one of these UIDVALIDITYs and that no folder is copied into; each has been opened.
 * @throws {MailError} when one lets nobody in, because what is looked for may be in it
 */
async function* renamedAmong(
  validities: readonly (bigint | undefined)[],
  checker: MailReader,
  run: Run,
): AsyncIterable<readonly [bigint, string]> {
  if (validities.length === 0) return;
  const ours = new Set([...run.known.values()].flat().map((mailbox) => mailbox.destinationPath));
  const others = run.destinationPaths().filter((path) => !ours.has(path));
  const now = await Promise.all(others.map((path) => unlessRefused(validityOf(path, checker))));
  for (const [at, path] of others.entries()) {
    if (!validities.includes(now[at] ?? undefined)) continue;
    const opened = await openUnlessGone(path, checker);
    if (opened !== null && validities.includes(opened.uidValidity)) yield [opened.uidValidity, path];
  }
}

/** @returns `null` where there is no mailbox of that name any more */
async function openUnlessGone(path: string, checker: MailReader): Promise<Opened | null> {
  try {
    return await askedAgain(() => checker.open(path));
  } catch (error) {
    if (isRefusal(error) && isOfNone(error)) return null;
    throw error;
  }
}

type Elsewhere = Pick<Row, 'size' | 'sha256' | 'destinationUid' | 'destinationUidValidity' | 'verified'>;

/**
 * Finds messages in the mailbox that they were appended to and that has been renamed since.
 * @param before the groups in which they were appended
 * @returns the rest of their rows, by source UID
 */
export async function findRenamed(
  wanted: readonly Wanted[],
  before: readonly Pick<Group, 'uidValidity' | 'uidNext'>[],
  { destinationPath }: LedgerMailbox,
  source: Place | null,
  checker: MailReader,
  run: Run,
): Promise<ReadonlyMap<number, Elsewhere>> {
  const rows = new Map<number, Elsewhere>();
  if (wanted.length === 0) return rows;
  const groups = Map.groupBy(before, (group) => group.uidValidity);
  for await (const [uidValidity, path] of renamedAmong([...groups.keys()], checker, run)) {
    const claims = await run.copy.ledger.claimed(destinationPath, uidValidity);
    const from = Math.min(...(groups.get(uidValidity) ?? []).map((group) => group.uidNext));
    const candidates: Listed[] = [];
    for await (const listed of listedFrom(checker, path, from)) if (!claims.has(listed.uid)) candidates.push(listed);
    const left = wanted.filter(({ uid }) => !rows.has(uid));
    const { found, unseen } = await match(left, source, candidates, destinationPlace(checker, path, uidValidity), run);
    run.askAgain(unseen);
    for (const [uid, { fate, isRead: verified, hasDate: _, ...what }] of found)
      if (fate !== 'changed') rows.set(uid, { ...what, destinationUidValidity: uidValidity, verified });
  }
  return rows;
}
