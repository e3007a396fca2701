import { MailError, unlessRefused } from '../../imap/mail-error.ts';
import type { Listed, MailReader, Opened } from '../../imap/streams.ts';
import type { Group, LedgerMailbox, Row } from '../ledger/ledger.ts';
import { inParts, listedFrom } from '../looking/looking.ts';
import { match } from '../looking/matching.ts';
import type { Wanted } from '../looking/wanted.ts';
import { secondsOf } from '../message/digest.ts';
import { FolderLeft, type Run, type Search } from '../run/run.ts';
import { destinationPlace, sourcePlace, type Place } from '../troubles/breaks.ts';
import { askedOfAll, notingHangUps } from '../troubles/hang-ups.ts';
import { askedAgain, openAside, refusedForNow, unlessInTrouble, validityOf } from '../troubles/troubles.ts';
import { openUnlessMissing } from './missing.ts';

/**
 * Opens the source mailbox of rows, on the side; `null` if it has another UIDVALIDITY by now, under which their UIDs
 * mean nothing, or is refused.
 */
export async function openSource(
  reader: MailReader,
  { sourcePath, sourceUidValidity }: LedgerMailbox,
  run: Run,
): Promise<Place | 'in trouble' | null> {
  const opened = await openBeside(reader, sourcePath, run);
  if (opened === 'in trouble') return opened;
  return opened?.uidValidity === sourceUidValidity ? sourcePlace(reader, sourcePath, sourceUidValidity) : null;
}

/** Opens a source mailbox to compare with it what is looked for at the destination; `null` if that is refused. */
export async function openBeside(reader: MailReader, path: string, run: Run): Promise<Opened | 'in trouble' | null> {
  const open = () => unlessRefused(notingHangUps('source', path, reader, run, () => reader.open(path)));
  const asked = await unlessInTrouble(async () => ({ opened: await open() }), 'compared with', path, run);
  return asked === null ? 'in trouble' : asked.opened;
}

/**
 * A search that was interrupted longer ago starts over: its owner may have moved messages since to where it has looked.
 */
const SEARCH_HOLDS_MS = 600_000;

type Missing = Wanted & Pick<Row, 'fate' | 'destinationUid' | 'destinationUidValidity'>;

/**
 * Finds out which of the messages that are missing from a mailbox are in another one of the destination, where no row
 * claims them.
 * @param source opened, or `null` when it can't be asked
 * @returns their source UIDs, and whether each of those mailboxes could be looked into or is refused
 */
export async function findMoved(
  missing: readonly Missing[],
  from: Pick<LedgerMailbox, 'id' | 'destinationPath'>,
  paths: readonly string[],
  source: Place | null,
  checker: MailReader,
  run: Run,
): Promise<{ readonly moved: ReadonlySet<number>; readonly isSure: boolean }> {
  const [first] = missing;
  if (first === undefined) return { moved: new Set(), isSure: true };
  const name = `${from.id} ${first.uid} missing under ${first.destinationUidValidity}, by ${source?.name ?? 'none'}`;
  const searching = beginSearch(name, missing, run);
  const { search } = searching;
  if (!search.byUid) {
    for (const uid of await findByUid(missing, searching, checker, run)) search.moved.add(uid);
    search.byUid = searching.isSure;
  }
  for (const path of paths) {
    const wanted = missing.filter(({ uid }) => !search.moved.has(uid));
    if (wanted.length === 0) break;
    if (path === from.destinationPath || search.looked.has(path)) continue;
    const found = await lookIn(path, wanted, source, checker, run);
    // A failure at this one must not count against the mailbox that they left.
    if (found === 'in trouble') {
      searching.isSure = false;
      continue;
    }
    for (const uid of found) search.moved.add(uid);
    search.looked.add(path);
    searching.goesOn();
  }
  // The search is kept, as what comes after it may break off as well.
  return { moved: search.moved, isSure: searching.isSure };
}

/**
 * A search under way. `goesOn` is called after each mailbox, which counts as progress once, even if the search starts
 * over. `isSure` until a mailbox can't be asked.
 */
type Searching = { readonly search: Search; readonly goesOn: () => void; isSure: boolean };

function beginSearch(name: string, missing: readonly Missing[], run: Run): Searching {
  const search = searchOf(name, missing, run);
  const goesOn = () => {
    search.at = run.copy.clock.elapsed();
    if (search.looked.size + search.validities.size <= run.faults(name)) return;
    run.noteFault(name);
    run.looked();
  };
  return { search, goesOn, isSure: true };
}

/** The search under this name if it is for the same messages, to go on where it broke off; else a new one. */
function searchOf(name: string, missing: readonly Missing[], { searches, copy }: Run): Search {
  const begun = searches.get(name);
  const now = copy.clock.elapsed();
  for (const [each, { at }] of searches) if (now - at >= SEARCH_HOLDS_MS) searches.delete(each);
  const uids = missing.flatMap(({ uid, destinationUid }) => [uid, destinationUid]);
  const isSame = begun?.uids.length === uids.length && uids.every((uid, at) => uid === begun.uids[at]);
  if (isSame && searches.has(name)) return begun;
  const search = {
    uids,
    moved: new Set<number>(),
    looked: new Set<string>(),
    validities: new Map(),
    byUid: false,
    at: now,
  };
  searches.set(name, search);
  return search;
}

/** @returns the source UIDs of those that are there; none if the mailbox is refused */
async function lookIn(
  path: string,
  wanted: readonly Missing[],
  source: Place | null,
  checker: MailReader,
  run: Run,
): Promise<readonly number[] | 'in trouble'> {
  const opened = await openAside(path, 'looked for in', checker, run);
  if (typeof opened === 'string') return opened === 'refused' ? [] : opened;
  const claims = await run.copy.ledger.claimed(path, opened.uidValidity);
  const candidates: Listed[] = [];
  for await (const listed of listedFrom(checker, path, 1)) if (!claims.has(listed.uid)) candidates.push(listed);
  const destination = destinationPlace(checker, path, opened.uidValidity);
  const { found } = await match(wanted, candidates, { source, destination, run });
  // The same Message-ID and date are not enough for a twin.
  const twins = new Set(wanted.flatMap(({ uid, fate }) => (fate === 'twin' ? [uid] : [])));
  return [...found].flatMap(([uid, { fate, isRead }]) =>
    isRead && (fate !== 'changed' || !twins.has(uid)) ? [uid] : [],
  );
}

/**
 * Finds messages that have gone together with their mailbox, which has been renamed: there they have the same UIDs.
 * @returns their source UIDs
 */
async function findByUid(
  missing: readonly Missing[],
  searching: Searching,
  checker: MailReader,
  run: Run,
): Promise<ReadonlySet<number>> {
  const moved = new Set<number>();
  const byValidity = Map.groupBy(missing, ({ destinationUidValidity }) => destinationUidValidity);
  for await (const [uidValidity, path] of renamedAmong([...byValidity.keys()], searching, checker, run)) {
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
 * Mailboxes that have one of these UIDVALIDITYs and that no folder is copied into; each has been opened. The search is
 * not sure any more if one could not be asked, as its server fails at it each time.
 * @throws {MailError} if one is refused, because what is looked for may be in it
 */
async function* renamedAmong(
  validities: readonly (bigint | undefined)[],
  searching: Searching,
  checker: MailReader,
  run: Run,
): AsyncIterable<readonly [bigint, string]> {
  if (validities.length === 0) return;
  const ours = new Set([...run.known.values()].flat().map((mailbox) => mailbox.destinationPath));
  const others = run.destinationPaths().filter((path) => !ours.has(path));
  const known = searching.search.validities;
  await addValidities(others, searching, checker, run);
  if (others.some((path) => !known.has(path))) searching.isSure = false;
  for (const path of others) {
    if (!validities.includes(known.get(path) ?? undefined)) continue;
    const opened = await openUnlessMissing(path, checker, run, () => askedAgain(() => checker.open(path)));
    if (opened !== null && validities.includes(opened.uidValidity)) yield [opened.uidValidity, path];
  }
}

/**
 * Asks for the unknown UIDVALIDITYs of mailboxes: `null` for one that is refused, nothing for one that the destination
 * fails at each time.
 */
async function addValidities(
  paths: readonly string[],
  { search: { validities: known }, goesOn }: Searching,
  checker: MailReader,
  run: Run,
): Promise<void> {
  const ask = (path: string) => unlessRefused(validityOf(path, checker));
  const note = async (path: string, asking: () => Promise<bigint | null>) => {
    const asked = async () => ({ validity: await asking() });
    const answer = await unlessInTrouble(asked, 'UIDVALIDITY of', path, run);
    if (answer === null) return;
    known.set(path, answer.validity);
    goesOn();
  };
  const unknown = paths.filter((path) => !known.has(path));
  await askedOfAll('destination', unknown, checker, run, new Set(), {
    together: (path) => note(path, () => ask(path)),
    alone: (path) => note(path, () => notingHangUps('destination', path, checker, run, () => ask(path))),
  });
}

type Elsewhere = Pick<Row, 'size' | 'sha256' | 'destinationUid' | 'destinationUidValidity' | 'verified'>;

/**
 * Finds messages in the mailbox that they were appended to and that has been renamed since.
 * @param before the groups in which they were appended
 * @returns the rest of their rows, by source UID
 * @throws {FolderLeft} for now, if they may be in a mailbox that can't be looked into
 */
export async function findRenamed(
  wanted: readonly Wanted[],
  before: readonly Pick<Group, 'uidValidity' | 'uidNext'>[],
  { id, destinationPath }: LedgerMailbox,
  source: Place | null,
  checker: MailReader,
  run: Run,
): Promise<ReadonlyMap<number, Elsewhere>> {
  const rows = new Map<number, Elsewhere>();
  if (wanted.length === 0) return rows;
  const groups = Map.groupBy(before, (group) => group.uidValidity);
  const name = `${id} under another name, once ${[...groups.keys()].join()}`;
  const searching = beginSearch(name, [], run);
  for await (const [uidValidity, path] of renamedAmong([...groups.keys()], searching, checker, run)) {
    const claims = await run.copy.ledger.claimed(destinationPath, uidValidity);
    const from = Math.min(...(groups.get(uidValidity) ?? []).map((group) => group.uidNext));
    const candidates: Listed[] = [];
    for await (const listed of listedFrom(checker, path, from)) if (!claims.has(listed.uid)) candidates.push(listed);
    const left = wanted.filter(({ uid }) => !rows.has(uid));
    const destination = destinationPlace(checker, path, uidValidity);
    const { found, unseen } = await match(left, candidates, { source, destination, run });
    run.askAgain(unseen);
    for (const [uid, { fate, isRead: verified, hasDate: _, ...what }] of found)
      if (fate !== 'changed') rows.set(uid, { ...what, destinationUidValidity: uidValidity, verified });
  }
  if (!searching.isSure && rows.size < wanted.length && refusedForNow(run.copy) !== null)
    throw new FolderLeft('mailbox closed', new MailError('busy', 'Nobody knows what has arrived.'));
  return rows;
}
