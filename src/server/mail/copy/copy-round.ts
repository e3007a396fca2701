import { Stopped } from '../../stopped.ts';
import { MailError } from '../imap/mail-error.ts';
import { copyFolders, type Checking } from './copy-folders.ts';
import { closeOthers, isNarrow, listDestinationPaths, openChecks, troubleWith, type Engine } from './engine.ts';
import type { Plan } from './folder-plan.ts';
import { workOf } from './lanes/lane-work.ts';
import type { LedgerMailbox } from './ledger/ledger.ts';
import { readRows } from './looking/known-rows.ts';
import { settleAbsent } from './reading-back/absent.ts';
import { droppedFlags, readBack } from './reading-back/read-back.ts';
import { sharesOf } from './reading-back/shares.ts';
import type { Check } from './run/run.ts';
import { notingHangUps } from './troubles/hang-ups.ts';
import { askedAgain, unlessInTrouble, unlessTroubled } from './troubles/troubles.ts';

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
      waited = await copyFolders(plan, engine, check);
    } finally {
      checks.end();
    }
    const isNext = waited > 0 && !isNarrow(engine.connections);
    const standing = await lanes.giveAway(mostReadingBack(engine));
    await checkers.takeOver(standing.map((session) => session.checking()));
    if (isNext && !engine.traits.listsOverReaders) engine.controls.warm(1);
    checks.replace((waiting) => sharesOf(waiting, mostReadingBack(engine) + 1, run.copy.sizes));
    if (checks.length() > 0) await checkers.work(checks, check, () => mostReadingBack(engine), released);
  };
  const checkBeside = async () => {
    try {
      // When the first message is to be read back, the lanes know if UIDs are reported, without which nothing can be
      // read back beside them.
      if (limits.connections > 1 && (await checks.waits()) && engine.traits.saysUids) await checker.work(checks, check);
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
function mostReadingBack({ connections, controlled, traits }: Engine): number {
  const isAlone = isNarrow(connections) || traits.listsOverReaders;
  const beside = controlled ? 2 : 1;
  return Math.min(connections.destination - beside, connections.source - beside - (isAlone ? 0 : 1));
}

function checkingIn(engine: Engine): Checking {
  const { run, findings } = engine;
  return async ({ mailbox, ...check }, session) => {
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
