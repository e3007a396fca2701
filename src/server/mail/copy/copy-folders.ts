import { isRefusal, MailError } from '../imap/mail-error.ts';
import { copyFolder, listFolder, type Folder, type FolderListing } from './copy-folder.ts';
import { mostLanes, troubleWith, type Engine } from './engine.ts';
import type { Plan } from './folder-plan.ts';
import { batchesOf, workOf } from './lanes/lane-work.ts';
import { meanwhile } from './lanes/meanwhile.ts';
import type { FolderReason } from './ledger/reasons.ts';
import { FolderLeft, PlanAgain, type Check, type CheckSession, type Session } from './run/run.ts';
import { suspectsLast } from './troubles/hang-ups.ts';
import { isTroubled } from './troubles/troubles.ts';

/**
 * After a folder has failed this often in a row, with nothing moved, others go first. A lane gives up after one more.
 */
const STOPS_IN_A_ROW = 3;
/** At most this many folders may do that in a row; beyond that, the server is at fault. */
const STOPPED_IN_A_ROW = 10;

/** Reads back what was stored. */
export type Checking = (check: Check, session: CheckSession) => Promise<void>;

/** The folders of one round, as they are listed and copied by all lanes. */
type Copying = {
  readonly engine: Engine;
  readonly check: Checking;
  /** By source path, until the folder is copied. */
  readonly listings: Map<string, FolderListing>;
  /** How many messages waited, or folders for another plan. */
  waited: number;
  /** Whether a server was too busy for a lane that read back: none does so any more. */
  isBusy: boolean;
};

/**
 * Makes the mailboxes of the destination that are missing, and lists and copies folders.
 * @param check reads back what was stored, over the connections of lanes that have no folder
 * @returns how many messages waited
 */
export async function copyFolders({ folders, making }: Plan, engine: Engine, check: Checking): Promise<number> {
  const { left, traits } = engine;
  const { limits } = engine.run.copy.destination;
  const copying: Copying = { engine, check, listings: new Map(), waited: 0, isBusy: false };
  await listAll(folders, making, copying);
  for (const folder of folders) await noteLeft(folder, engine);
  const listed = folders.filter(({ sourcePath }) => !left.has(sourcePath));
  // The inbox goes first, alone, if there is a daily limit or one lane fills the bandwidth. Without LITERAL+ each
  // message waits for an answer, so one lane can't.
  const isFirst = limits.upADay !== undefined || traits.takesUnannounced;
  const alone = listed.filter(({ isInbox }) => isInbox && isFirst);
  const others = new Set(listed);
  for (const folder of alone) others.delete(folder);
  // If the inbox keeps failing, the others go on beside it.
  const stopped: Folder[] = [];
  await copyAll(alone, copying, stopped);
  await copyAll([...stopped, ...others], copying);
  return copying.waited;
}

/** Lists the folders, and makes the mailboxes of the destination meanwhile. */
async function listAll(folders: readonly Folder[], making: Plan['making'], copying: Copying): Promise<void> {
  const { engine } = copying;
  const most = () => mostLanes(engine);
  const batches = batchesOf(folders, { lanes: most(), most: engine.run.copy.sizes.listed });
  const unlisted = workOf(batches);
  const listMore = async (session: Session, goesOn: () => boolean) => {
    for (let batch = await unlisted.next(); batch !== null; batch = await unlisted.next()) {
      try {
        await listBatch(batch, copying, session, goesOn);
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
  await engine.lanes.work(
    workOf(preparing),
    (prepare, session, goesOn) => prepare(session, goesOn),
    most,
    engine.released,
  );
}

async function listBatch(
  batch: readonly Folder[],
  copying: Copying,
  session: Session,
  goesOn: () => boolean,
): Promise<void> {
  const { engine, listings } = copying;
  const { run, left } = engine;
  const unlisted = batch.filter(({ sourcePath }) => !listings.has(sourcePath) && !left.has(sourcePath));
  const { others, suspects } = suspectsLast(unlisted, 'source', ({ sourcePath }) => sourcePath, run);
  session.reader.listAhead(others.map(({ sourcePath }) => sourcePath));
  for (const folder of [...others, ...suspects]) {
    if (!goesOn()) return;
    await unlessLeft(folder, copying, async () => {
      listings.set(folder.sourcePath, await listFolder(folder, run.copy.forwardedMark, session, run));
    });
    run.looked();
  }
}

/** @param behind where a folder goes that keeps failing; otherwise behind those that wait */
async function copyAll(folders: readonly Folder[], copying: Copying, behind?: Folder[]): Promise<void> {
  const { engine } = copying;
  const mayCheck = () => engine.traits.saysUids && !copying.isBusy;
  // One large folder is copied by one lane, in its order: the others read back meanwhile.
  const tasks = meanwhile(folders, engine.checks, mayCheck, givingBack(engine, behind));
  await engine.lanes.work(
    tasks,
    async (task, session, goesOn) => {
      if (task.kind === 'other') return checkMeanwhile(task.item, copying, session);
      try {
        await copyOne(task.item, copying, session, goesOn);
      } finally {
        tasks.done(task.item);
      }
    },
    () => mostLanes(engine),
    engine.released,
  );
}

async function copyOne(folder: Folder, copying: Copying, session: Session, goesOn: () => boolean): Promise<void> {
  const { engine, listings } = copying;
  const { run, seen } = engine;
  let listing = listings.get(folder.sourcePath);
  listings.delete(folder.sourcePath);
  await unlessLeft(folder, copying, async () => {
    // A folder that is worked on again after a fault is listed again.
    listing ??= await listFolder(folder, run.copy.forwardedMark, session, run);
    const { opened, unlisted } = listing;
    const todo = await copyFolder(folder, listing, session, run, goesOn);
    copying.waited += todo;
    seen.set(folder.sourcePath, { opened, unlisted });
  });
  await noteLeft(folder, engine, listing);
}

/** Leaves a folder that can't be listed, or copied, for a reason of its own, or that waits for another plan. */
async function unlessLeft(folder: Folder, copying: Copying, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof PlanAgain) {
      copying.waited += 1;
      return;
    }
    const reason = reasonOf(error, folder, copying.engine);
    if (reason === null) throw error;
    copying.engine.left.set(folder.sourcePath, reason);
  }
}

async function checkMeanwhile(item: Check, copying: Copying, session: Session): Promise<void> {
  try {
    await copying.check(item, checkingOver(session));
  } catch (error) {
    // The lane may still store, and this is read back later.
    if (!(error instanceof MailError) || error.fault !== 'busy') throw error;
    copying.isBusy = true;
    copying.engine.checks.giveBack(item);
  }
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

/** Notes why a folder was left, if it was. */
async function noteLeft(
  { sourcePath, planned }: Folder,
  { run, left }: Engine,
  listing?: FolderListing,
): Promise<void> {
  const reason = left.get(sourcePath);
  if (reason === undefined) return;
  await run.copy.ledger.addMailboxes([
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
