import { MailError } from '../imap/mail-error.ts';
import { copyRound, noteUnread, readBackLeft } from './copy-round.ts';
import { takeBackDisowned } from './disowned.ts';
import { closeOthers, isNarrow, listDestinationPaths, mostCheckers, troubleWith, type Engine } from './engine.ts';
import { planFolders } from './folder-plan.ts';
import { batchesOf, workOf } from './lanes/lane-work.ts';
import type { LedgerMailbox } from './ledger/ledger.ts';
import type { FolderReason } from './ledger/reasons.ts';
import { storedPath } from './ledger/rows.ts';
import { isMissing } from './mailboxes/missing.ts';
import { findAnew } from './mailboxes/renumbered.ts';
import { compareMailbox } from './reading-back/comparing.ts';
import type { CopyEnd, MailCopy } from './run/mail-copy.ts';
import { withEngine } from './run-engine.ts';
import type { CheckSession, Run } from './run/run.ts';
import { leftByGoodbyes } from './troubles/breaks.ts';
import { blamingHangUps, HangsUp, notingHangUps, shutOut, suspectsLast } from './troubles/hang-ups.ts';
import { refusedForNow, troubledForNow, unlessInTrouble, unlessTroubled } from './troubles/troubles.ts';

/**
 * How often at most the source is listed until a listing shows nothing new: a mailbox that keeps changing must not keep
 * the transfer from ending.
 */
const PASSES = 5;
/**
 * How often in one run what can't be read back is asked for: each further time costs a dozen sign-ins, and the next run
 * comes soon.
 */
const ROUNDS_FOR_UNREAD = 2;

/**
 * Copies an account's mail, from wherever an earlier run left it, until a listing shows nothing new.
 * @throws {MailError} what stopped it, {@link Stopped} after an abort, {@link LeaseLost}, {@link ProviderLimit}
 */
export async function copyWhatIsThere(copy: MailCopy): Promise<void> {
  await withEngine(copy, copyUntilNothingIsNew);
}

/** Copies what is there, and ends with the comparison of both sides. @throws as {@link copyWhatIsThere} */
export function copyAndCompare(copy: MailCopy): Promise<CopyEnd> {
  return withEngine(copy, async (engine) => {
    await copyUntilNothingIsNew(engine);
    await unlessItMayPass(engine, true);
    await takeBackDisowned(engine);
    return compareAll(engine);
  });
}

async function copyUntilNothingIsNew(engine: Engine): Promise<void> {
  for (let pass = 1; pass <= PASSES + engine.plannedAgain; pass += 1) {
    // After a round, the connections that have read back are ready for the final comparison.
    const ready = pass === 1 ? (['checker'] as const) : (['checker', 'checkers'] as const);
    await closeOthers(engine, ['controls', ...(isNarrow(engine.connections) ? [] : ready)]);
    const plan = await planFolders(engine);
    const hasFolders = plan.folders.length > 0;
    // If no UIDs are reported, nothing is read back beside the lanes, so they may have the checker's connection as
    // well.
    const beside = engine.traits.saysUids ? (['checker'] as const) : [];
    if (hasFolders) await closeOthers(engine, ['controls', 'lanes', ...beside]);
    // One that was made since the list before may have been in the place of another one.
    const mayHaveMore = pass === 1 ? engine.listsAgain : plan.folders.some((each) => !engine.seen.has(each.sourcePath));
    const waited = hasFolders ? await copyRound(plan, engine) : 0;
    const isLast = waited === 0 && !missesMore(engine) && !(hasFolders && mayHaveMore);
    if (isLast && !(pass < PASSES + engine.plannedAgain && triesAgain(engine))) break;
  }
  await unlessEmptied(engine);
  await forgetVanished(engine);
  unlessShutOut(engine);
  await unlessItMayPass(engine, false);
}

/**
 * The source shows an account without any mail, whose inbox has another UIDVALIDITY, in place of all that had some: so
 * does a server whose disk is away. Nobody can delete an inbox.
 * @throws {MailError}
 */
async function unlessEmptied({ run: { copy }, seen, sourcePaths }: Engine): Promise<void> {
  const now = new Map(sourcePaths.map((path) => [storedPath(path), seen.get(path)?.opened]));
  if ([...now.values()].some((opened) => opened?.exists !== 0)) return;
  const isThere = ({ sourcePath, sourceUidValidity }: LedgerMailbox) =>
    now.get(sourcePath)?.uidValidity === sourceUidValidity;
  const { there = [], before = [] } = Object.groupBy(await copy.ledger.mailboxes(), (mailbox) =>
    isThere(mailbox) ? 'there' : 'before',
  );
  if (before.every(({ sourcePath }) => sourcePath !== 'INBOX')) return;
  const hasRows = async ({ id }: LedgerMailbox) =>
    (await copy.ledger.rows(id)[Symbol.asyncIterator]().next()).done !== true;
  for (const mailbox of there) if (await hasRows(mailbox)) return;
  for (const mailbox of before)
    if (await hasRows(mailbox))
      throw new MailError('unreachable', 'All mailboxes that had mail are gone.').of('source');
}

/**
 * If every mailbox answers with the code of a failed sign-in although we are signed in, the account is concerned: its
 * owner, or its provider, has to act.
 */
function unlessShutOut({ run, left, sourcePaths }: Engine): void {
  if (sourcePaths.some((path) => !left.has(path))) return;
  for (const account of ['source', 'destination'] as const)
    if (shutOut(account, run) > 0 && shutOut(account, run) >= sourcePaths.length)
      throw new MailError('refused', 'The mail server lets nobody into any mailbox.').of(account);
}

/**
 * Lets the operation wait for folders that were refused and, once all else is done, for single messages that were
 * refused or are not shown: only what later runs can't do either is left out for good.
 * @throws {RefusedForNow}
 */
async function unlessItMayPass(engine: Engine, isDone: boolean): Promise<void> {
  const { troubled, left, findings, run } = engine;
  const { copy } = run;
  const troubles = [...troubled].flatMap(([path, error]) => (left.has(path) ? [error] : []));
  const other = troubles.find((error) => !(error instanceof HangsUp));
  const ofFolders = isOfAll(engine, troubles) ? 'all' : troubles.find((error) => error instanceof HangsUp);
  const ofMessages = ofGoodbyes(run);
  const lasting = ofMessages === 'all' ? ofMessages : (ofFolders ?? ofMessages);
  const longer = lasting === null ? null : troubledForNow(copy, lasting);
  const isOfFolders = other !== undefined || (ofFolders !== undefined && longer !== null);
  if (!isOfFolders && !isDone) return;
  const wait = longer ?? refusedForNow(copy, other);
  if (wait === null) return;
  if ((await copy.ledger.forgetRefused()) || isOfFolders || findings.late.size > 0) throw wait;
}

function ofGoodbyes({ copy, faults }: Run): ReturnType<typeof leftByGoodbyes> {
  const [source, destination] = [copy.source.limits, copy.destination.limits];
  const aDay = { source: source.downADay, destination: destination.downADay, appends: destination.upADay };
  return leftByGoodbyes({ faults }, aDay);
}

/** Whether a server as a whole is at fault: it has opened no mailbox, and fails at all but those that it refuses. */
function isOfAll({ run, troubled, left, sourcePaths }: Engine, troubles: readonly MailError[]): boolean {
  const { source, destination } = run.opened;
  if (source.size > 0 && destination.size > 0) return false;
  const isInTrouble = (path: string) => left.has(path) && troubled.get(path)?.passing === true;
  const open = sourcePaths.filter((path) => isInTrouble(path) || !left.has(path));
  return open.length > 1 && open.every(isInTrouble) && troubles.some(({ responseCode }) => responseCode !== undefined);
}

/** Stops reporting folders as left out that could not be read because they have been renamed or deleted. */
async function forgetVanished(engine: Engine): Promise<void> {
  const { run, lanes, left, sourcePaths } = engine;
  const listed = new Set(sourcePaths);
  const gone = [...left].flatMap(([path, why]) => (why === 'mailbox unreadable' && !listed.has(path) ? [path] : []));
  if (gone.length === 0) return;
  await closeOthers(engine, ['lanes']);
  await lanes.work(
    workOf(gone),
    async (path, { reader }) => {
      const ask = () => blamingHangUps('source', path, reader, run, () => isMissing(reader, path, sourcePaths));
      if (await unlessInTrouble(ask, 'gone from', path, run)) left.delete(path);
    },
    () => 1,
  );
}

/** Whether the list lacks, for the first time, a folder that was known: it may have left out the folder's new name. */
function missesMore({ run, heardOf, missed, sourcePaths }: Engine): boolean {
  const listed = new Set([...sourcePaths, ...sourcePaths.map(storedPath)]);
  const fresh = [...run.known.keys(), ...heardOf].filter((path) => !listed.has(path) && !missed.has(path));
  for (const path of fresh) missed.add(path);
  return fresh.length > 0;
}

/** Folders that were refused get a second try, after all others, as a refusal may be momentary. */
function triesAgain(engine: Engine): boolean {
  if (engine.again !== null) return false;
  engine.again = new Set(engine.left.keys());
  return engine.again.size > 0;
}

/**
 * The final comparison of both sides. What has to be found anew under another UIDVALIDITY may have to be copied again.
 */
async function compareAll(engine: Engine): Promise<CopyEnd> {
  const { seen, left } = engine;
  let unreadRounds = 0;
  for (let round = 1; ; round += 1) {
    const { open, stale, ...counts } = await compareMailboxes(engine);
    const isLast = round >= PASSES || (!stale && unreadRounds >= ROUNDS_FOR_UNREAD - 1);
    // A duplicate may be what another worker is just taking back, or died before it could.
    if (counts.duplicated > 0 && round < PASSES && (await takeBackDisowned(engine))) continue;
    if (open.length === 0 || isLast) {
      for (const mailbox of open) {
        // A server may hand out another time what it fails at now.
        const error = new MailError('busy', 'Not all was read back.');
        if (!left.has(mailbox.sourcePath)) troubleWith(engine, mailbox)(error);
        await noteUnread(mailbox, engine, error);
      }
      await unlessItMayPass(engine, true);
      await forgetReasons(engine);
      const unlisted = [...seen.values()].reduce((total, each) => total + each.unlisted, 0);
      return { ...counts, unlisted, mailboxesLeft: left.size };
    }
    if (!stale) unreadRounds += 1;
    await settleOpenMailboxes(new Set(open.map(({ id }) => id)), engine);
    await copyUntilNothingIsNew(engine);
  }
}

type Counts = Pick<CopyEnd, 'lost' | 'duplicated' | 'changed' | 'kept'>;

/** `stale`: in some of those that are open, something is to be found anew; in the others it was not read back. */
type Compared = Counts & { readonly open: readonly LedgerMailbox[]; readonly stale: boolean };

/** @returns what all mailboxes count together */
async function compareMailboxes(engine: Engine): Promise<Compared> {
  const { run, checkers, left } = engine;
  const sum = { lost: 0, duplicated: 0, changed: 0, kept: 0 };
  const open: LedgerMailbox[] = [];
  let stale = false;
  await closeOthers(engine, isNarrow(engine.connections) ? ['checkers'] : ['checker', 'checkers']);
  const compared = new Set<LedgerMailbox>();
  const compare = async (batch: readonly LedgerMailbox[], { checker }: CheckSession, goesOn: () => boolean) => {
    const waiting = batch.filter((mailbox) => !compared.has(mailbox));
    const { others, suspects } = suspectsLast(waiting, 'destination', ({ destinationPath }) => destinationPath, run);
    checker.listAhead(others.map(({ destinationPath }) => destinationPath));
    for (const mailbox of [...others, ...suspects]) {
      if (!goesOn()) return;
      const comparing = notingHangUps('destination', mailbox.destinationPath, checker, run, () =>
        compareMailbox(mailbox, checker, run),
      );
      const counts = await unlessTroubled(comparing, mailbox.destinationPath, run, troubleWith(engine, mailbox));
      compared.add(mailbox);
      run.looked();
      if (counts === null) {
        open.push(mailbox);
        continue;
      }
      for (const count of ['lost', 'duplicated', 'changed', 'kept'] as const) sum[count] += counts[count];
      const isStale = counts.isStale || run.stale.has(mailbox.id);
      stale ||= isStale;
      if (isStale || (counts.isUnread && !left.has(mailbox.sourcePath))) open.push(mailbox);
    }
  };
  const mailboxes = (await ledgerMailboxes(run)).filter(({ sourceUidValidity }) => sourceUidValidity !== 0n);
  const { listed } = run.copy.sizes;
  // Some checkers are open from reading back: with few mailboxes, to open another would take longer than the work.
  const most = () => Math.min(mostCheckers(engine), Math.ceil(mailboxes.length / listed));
  await checkers.work(workOf(batchesOf(mailboxes, { lanes: most(), most: listed })), compare, most, engine.released);
  return { ...sum, open, stale };
}

async function settleOpenMailboxes(ids: ReadonlySet<number>, engine: Engine): Promise<void> {
  const { run, lanes, seen } = engine;
  run.stale.clear();
  // A mailbox that has been renamed at the source is read under its new name.
  await copyUntilNothingIsNew(engine);
  const open = (await ledgerMailboxes(run)).filter(({ id }) => ids.has(id));
  await listDestinationPaths(engine);
  await lanes.work(
    workOf(open),
    async (mailbox, session) => {
      const { checker } = session;
      const path = mailbox.destinationPath;
      const note = troubleWith(engine, mailbox);
      let by: MailError | undefined;
      const trouble = (error: MailError) => {
        note(error);
        by = error;
      };
      const opening = notingHangUps('destination', path, checker, run, () => checker.open(path));
      const opened = await unlessTroubled(opening, path, run, trouble);
      if (opened !== null)
        await unlessTroubled(findAnew(mailbox, opened.uidValidity, session, run), path, run, trouble);
      if (by !== undefined) await noteUnread(mailbox, engine, by);
      else seen.delete(mailbox.sourcePath);
    },
    () => 1,
  );
  await readBackLeft(open, engine);
}

/** Clears reasons of mailboxes that could not be copied at first, or under one name, and have been since. */
async function forgetReasons({ run, left, seen }: Engine): Promise<void> {
  const reasons = new Map<string, FolderReason>();
  for (const [path, { unlisted }] of seen) if (unlisted > 0) reasons.set(storedPath(path), 'mailbox not complete');
  for (const [path, reason] of left) reasons.set(storedPath(path), reason);
  for (const { id, sourcePath, reason } of await run.copy.ledger.mailboxes())
    if (reason !== undefined && reason !== reasons.get(storedPath(sourcePath)))
      await run.copy.ledger.noteMailbox(id, null);
}

/** The mailboxes under the names that both sides have for them now; the ledger keeps some in another form. */
async function ledgerMailboxes({ copy, known }: Run): Promise<readonly LedgerMailbox[]> {
  const named = new Map([...known.values()].flat().map((mailbox) => [mailbox.id, mailbox]));
  const mailboxes = await copy.ledger.mailboxes();
  return mailboxes.map((mailbox) => {
    const { sourcePath, destinationPath } = named.get(mailbox.id) ?? mailbox;
    return { ...mailbox, sourcePath, destinationPath };
  });
}
