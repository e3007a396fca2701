import { Stopped } from '../../stopped.ts';
import { isRefusal, MailError } from '../imap/mail-error.ts';
import { copyFolder, listFolder, type Folder, type FolderListing } from './copy-folder.ts';
import {
  closeOthers,
  isNarrow,
  listDestinationPaths,
  mostLanes,
  openChecks,
  troubleWith,
  type Engine,
} from './engine.ts';
import type { Plan } from './folder-plan.ts';
import { batchesOf, workOf } from './lanes/lane-work.ts';
import { meanwhile, type Task } from './lanes/meanwhile.ts';
import type { LedgerMailbox } from './ledger/ledger.ts';
import type { FolderReason } from './ledger/reasons.ts';
import { readRows } from './looking/known-rows.ts';
import { settleAbsent } from './reading-back/absent.ts';
import { droppedFlags, readBack } from './reading-back/read-back.ts';
import { sharesOf } from './reading-back/shares.ts';
import { FolderLeft, PlanAgain, type Check, type CheckSession, type Run, type Session } from './run/run.ts';
import { notingHangUps, suspectsLast } from './troubles/hang-ups.ts';
import { askedAgain, isTroubled, unlessInTrouble, unlessTroubled } from './troubles/troubles.ts';

/**
 * After a folder has failed this often in a row, with nothing moved, others go first. A lane gives up after one more.
 */
const STOPS_IN_A_ROW = 3;
/** At most this many folders may do that in a row; beyond that, the server is at fault. */
const STOPPED_IN_A_ROW = 10;

/**
 * Makes the mailboxes of the destination that are missing, lists and copies folders, and reads back what was stored.
 * @returns how many messages waited
 */
export async function copyRound(plan: Plan, engine: Engine): Promise<number> {
  const { run, lanes, checker, checkers, failing, released } = engine;
  const { limits } = run.copy.destination;
  engine.checks = openChecks(run.copy.sizes);
  engine.alone = Promise.withResolvers();
  const { checks } = engine;
  const check = checkingIn(engine);
  let waited = 0;
  const copying = async () => {
    try {
      waited = await copyFolders(plan, engine);
    } finally {
      checks.end();
    }
    const isNext = waited > 0 && !isNarrow(engine.connections);
    const standing = await lanes.giveAway(mostReadingBack(engine));
    await checkers.takeOver(standing.map((session) => session.checking()));
    if (isNext && !engine.listsOverReaders) engine.controls.warm(1);
    checks.replace((waiting) => sharesOf(waiting, mostReadingBack(engine) + 1, run.copy.sizes));
    if (checks.length() > 0) await checkers.work(checks, check, () => mostReadingBack(engine), released);
  };
  const checkBeside = async () => {
    try {
      // When the first message is to be read back, the lanes know if UIDs are reported, without which nothing can be
      // read back beside them.
      if (limits.connections > 1 && (await checks.waits()) && engine.saysUids) await checker.work(checks, check);
    } catch (error) {
      // The server allows no connection for it: what is stored is read back later.
      if (!(error instanceof MailError) || error.fault !== 'busy') throw error;
    } finally {
      engine.alone.resolve();
    }
  };
  const tasks = [copying(), checkBeside()];
  for (const task of tasks)
    task.catch(() => {
      failing.abort();
      checks.end();
    });
  const failed = (await Promise.allSettled(tasks)).flatMap((task) => (task.status === 'rejected' ? [task.reason] : []));
  if (failed.length > 0) throw failed.find((error) => !(error instanceof Stopped)) ?? failed[0];
  await checker.work(checks, check);
  await settleFindings(engine);
  return waited;
}

/**
 * How many checkers may be open beside `checker`, and beside the controls until their LOGOUT is done. Each may have a
 * connection to the source, too, where one is kept for the control of the next round if that needs one.
 */
function mostReadingBack({ connections, controlled, listsOverReaders }: Engine): number {
  const isAlone = isNarrow(connections) || listsOverReaders;
  const beside = controlled ? 2 : 1;
  return Math.min(connections.destination - beside, connections.source - beside - (isAlone ? 0 : 1));
}

function checkingIn(engine: Engine) {
  const { run, findings } = engine;
  return async ({ mailbox, ...check }: Check, session: CheckSession): Promise<void> => {
    const note = troubleWith(engine, mailbox);
    const leave = (error: MailError) => {
      note(error);
      findings.unread.set(mailbox, error);
    };
    const reading = readBack({ mailbox, ...check }, session, run, findings);
    await unlessTroubled(reading, mailbox.destinationPath, run, leave, mailbox.sourcePath);
  };
}

/** Reads back what no round has: if the source has lost the mailbox meanwhile, none copies it again. */
export async function readBackLeft(mailboxes: readonly LedgerMailbox[], engine: Engine): Promise<void> {
  const { run, checkers } = engine;
  const checks: Check[] = [];
  for (const mailbox of mailboxes) checks.push(...(await readRows(mailbox, run)).checks);
  await closeOthers(engine, []);
  await checkers.work(workOf(checks), checkingIn(engine));
  await settleFindings(engine);
}

async function copyFolders({ folders, making }: Plan, engine: Engine): Promise<number> {
  const { run, lanes, seen, left } = engine;
  const { forwardedMark, destination } = run.copy;
  const listings = new Map<string, FolderListing>();
  let waited = 0;
  const leaving = async (folder: Folder, work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      if (error instanceof PlanAgain) {
        waited += 1;
        return;
      }
      const reason = reasonOf(error, folder, engine);
      if (reason === null) throw error;
      left.set(folder.sourcePath, reason);
    }
  };
  const note = async (folder: Folder, listing?: FolderListing) => {
    const reason = left.get(folder.sourcePath);
    if (reason !== undefined) await noteLeft(folder, listing, reason, run);
  };
  const most = () => mostLanes(engine);
  const list = async (batch: readonly Folder[], session: Session, goesOn: () => boolean) => {
    const unlisted = batch.filter(({ sourcePath }) => !listings.has(sourcePath) && !left.has(sourcePath));
    const { others, suspects } = suspectsLast(unlisted, 'source', ({ sourcePath }) => sourcePath, run);
    session.reader.listAhead(others.map(({ sourcePath }) => sourcePath));
    for (const folder of [...others, ...suspects]) {
      if (!goesOn()) return;
      await leaving(folder, async () => {
        listings.set(folder.sourcePath, await listFolder(folder, forwardedMark, session, run));
      });
      run.looked();
    }
  };
  const batches = batchesOf(folders, { lanes: most(), most: run.copy.sizes.listed });
  const unlisted = workOf(batches);
  const listMore = async (session: Session, goesOn: () => boolean) => {
    for (let batch = await unlisted.next(); batch !== null; batch = await unlisted.next()) {
      try {
        await list(batch, session, goesOn);
      } catch (error) {
        unlisted.giveBack(batch);
        throw error;
      }
    }
  };
  const preparing = batches.map((_, number) => async (session: Session, goesOn: () => boolean) => {
    // One connection lists while the other one makes mailboxes.
    const both = [listMore(session, goesOn), ...(number === 0 ? [making.makeAll(session.writer)] : [])];
    for (const each of await Promise.allSettled(both)) if (each.status === 'rejected') throw each.reason;
  });
  const { released } = engine;
  await lanes.work(workOf(preparing), (prepare, session, goesOn) => prepare(session, goesOn), most, released);
  for (const folder of folders) await note(folder);
  const copyOne = async (folder: Folder, session: Session, goesOn: () => boolean) => {
    let listing = listings.get(folder.sourcePath);
    listings.delete(folder.sourcePath);
    await leaving(folder, async () => {
      // A folder that is worked on again after a fault is listed again.
      listing ??= await listFolder(folder, forwardedMark, session, run);
      const { opened, unlisted } = listing;
      const todo = await copyFolder(folder, listing, session, run, goesOn);
      waited += todo;
      seen.set(folder.sourcePath, { opened, unlisted });
    });
    await note(folder, listing);
  };
  const listed = folders.filter(({ sourcePath }) => !left.has(sourcePath));
  // The inbox goes first, alone, if there is a daily limit or one lane fills the bandwidth. Without LITERAL+ each
  // message waits for an answer, so one lane can't.
  const isFirst = destination.limits.upADay !== undefined || engine.takesUnannounced;
  const alone = listed.filter(({ isInbox }) => isInbox && isFirst);
  const check = checkingIn(engine);
  let isBusy = false;
  const checkMeanwhile = async (item: Check, session: Session) => {
    try {
      await check(item, checkingOver(session));
    } catch (error) {
      // The lane may still store, and this is read back later.
      if (!(error instanceof MailError) || error.fault !== 'busy') throw error;
      isBusy = true;
      engine.checks.giveBack(item);
    }
  };
  const copyAll = async (some: readonly Folder[], behind?: Folder[]) => {
    // One large folder is copied by one lane, in its order: the others read back meanwhile.
    const tasks = meanwhile(some, engine.checks, () => engine.saysUids && !isBusy, givingBack(engine, behind));
    const perform = async (task: Task<Folder, Check>, session: Session, goesOn: () => boolean) => {
      if (task.kind === 'other') return checkMeanwhile(task.item, session);
      try {
        await copyOne(task.item, session, goesOn);
      } finally {
        tasks.done(task.item);
      }
    };
    await lanes.work(tasks, perform, most, released);
  };
  const others = new Set(listed);
  for (const folder of alone) others.delete(folder);
  // If the inbox keeps failing, the others go on beside it.
  const stopped: Folder[] = [];
  await copyAll(alone, stopped);
  await copyAll([...stopped, ...others]);
  return waited;
}

/**
 * A folder that is given back is the next one again, until it has failed too often: others wait, and there may be only
 * one lane.
 * @param behind where it goes then; otherwise behind those that wait
 */
function givingBack({ moved }: Engine, behind?: Folder[]): (folder: Folder, waiting: Folder[]) => boolean {
  const stops = new Map<Folder, number>();
  let movedBefore = moved();
  return (folder, waiting) => {
    if (moved() > movedBefore) stops.clear();
    movedBefore = moved();
    const times = (stops.get(folder) ?? 0) + 1;
    stops.set(folder, times);
    if (times < STOPS_IN_A_ROW) {
      waiting.unshift(folder);
      return false;
    }
    (behind ?? waiting).push(folder);
    return times === STOPS_IN_A_ROW && stops.size <= STOPPED_IN_A_ROW;
  };
}

/** Over the lane's own connections, which are left open. */
function checkingOver({ checker, reader, isOver }: Session): CheckSession {
  return {
    checker,
    isOver,
    reader: () => Promise.resolve(reader),
    standing: reader,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** The reason for which a folder is left out after an error; `null` when it is tried again, or nothing can go on. */
function reasonOf(error: unknown, { sourcePath, planned }: Folder, engine: Engine): FolderReason | null {
  const note = troubleWith(engine, { sourcePath });
  if (error instanceof FolderLeft) {
    if (error.cause instanceof MailError) note(error.cause);
    return error.reason;
  }
  if (!isRefusal(error) && !isTroubled(error, sourcePath, engine.run, planned())) return null;
  note(error);
  return error.account === 'destination' ? 'mailbox closed' : 'mailbox unreadable';
}

async function noteLeft(
  { sourcePath, planned }: Folder,
  listing: FolderListing | undefined,
  reason: FolderReason,
  { copy }: Run,
): Promise<void> {
  await copy.ledger.addMailboxes([
    {
      sourcePath,
      // This row has UIDVALIDITY 0: what was copied before has a row of its own.
      sourceUidValidity: 0n,
      destinationPath: reason === 'mailbox not created' ? sourcePath : planned(),
      total: listing === undefined ? 0 : listing.messages.length - listing.leftOut.size,
      reason,
    },
  ]);
}

/**
 * Settles what reading back has left: flags that the server dropped, and messages that are not where they were stored.
 */
async function settleFindings(engine: Engine): Promise<void> {
  await setDroppedFlags(engine);
  await noteAllUnread(engine);
  await lookForAbsent(engine);
  await noteAllUnread(engine);
}

async function noteAllUnread(engine: Engine): Promise<void> {
  const { findings } = engine;
  for (const [mailbox, error] of findings.unread) await noteUnread(mailbox, engine, error);
  findings.unread.clear();
}

/** Sets flags that the server dropped. Where it refuses, they are left: the messages are there. */
async function setDroppedFlags(engine: Engine): Promise<void> {
  const { run, lanes, findings } = engine;
  const dropped = droppedFlags(findings.flags.splice(0), findings.kept);
  if (dropped.length > 0) await closeOthers(engine, ['lanes']);
  await lanes.work(
    workOf([...Map.groupBy(dropped, ({ path }) => path)]),
    async ([path, all], { writer, checker }) => {
      const asked = <Answer>(ask: () => Promise<Answer>) =>
        unlessInTrouble(() => askedAgain(ask), 'flags in', path, run);
      const setting = async () => {
        const selected = await askedAgain(() => writer.select(path));
        for (const { uid, flags } of all) await asked(() => writer.addFlags(path, uid, selected.keeps(flags)));
      };
      const opening = () => notingHangUps('destination', path, checker, run, setting);
      await unlessInTrouble(opening, 'opened for flags', path, run);
    },
    () => 1,
  );
}

async function lookForAbsent(engine: Engine): Promise<void> {
  const { run, checkers, findings } = engine;
  const absent = Map.groupBy(findings.absent.splice(0), ({ check }) => check.mailbox.destinationPath);
  if (absent.size === 0) return;
  await listDestinationPaths(engine);
  await checkers.work(workOf([...absent]), async ([path, all], session) => {
    const mailboxes = all.map(({ check }) => check.mailbox);
    const note = troubleWith(engine, ...mailboxes);
    const leave = (error: MailError) => {
      note(error);
      for (const mailbox of mailboxes) findings.unread.set(mailbox, error);
    };
    await unlessTroubled(settleAbsent(path, all, session, run, findings.late), path, run, leave);
  });
}

/**
 * Notes that a mailbox can't be read at the destination, or the source, so that nobody knows whether all of it is
 * there. This outweighs a listing that stayed short.
 */
export async function noteUnread(
  { id, sourcePath }: LedgerMailbox,
  { run, left, seen, sourcePaths }: Engine,
  { account }: Pick<MailError, 'account'>,
): Promise<void> {
  if (left.has(sourcePath)) return;
  const isOfSource = account === 'source';
  // If it was not copied whole, the rest can't be either. One that the source has lost since has no rest.
  const hasRest = !seen.has(sourcePath) && sourcePaths.includes(sourcePath);
  const ofRest = isOfSource ? 'mailbox unreadable' : 'mailbox closed';
  const ofComparison = isOfSource ? 'mailbox not compared' : 'mailbox not read back';
  const reason = hasRest ? ofRest : ofComparison;
  left.set(sourcePath, reason);
  await run.copy.ledger.noteMailbox(id, reason);
}
