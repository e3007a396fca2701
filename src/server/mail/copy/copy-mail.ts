import { MailError } from '../imap/mail-error.ts';
import type { Mailbox } from '../imap/mailbox.ts';
import type { MailControl, MailReader, Namespace, Opened } from '../imap/streams.ts';
import { openBudget } from './budget.ts';
import { compareMailbox } from './comparing.ts';
import { copyFolder, listFolder, type Folder, type FolderListing } from './copy-folder.ts';
import { openCounts } from './counts.ts';
import { openForwarded, type Forwarded } from './forwarded.ts';
import { LeaseLost } from '../../transfers/lease.ts';
import type { LedgerMailbox } from './ledger.ts';
import { openLanes, openStream, Stopped, workOf, type Lanes, type Stream } from './lanes.ts';
import type { CopyEnd, MailCopy } from './mail-copy.ts';
import { mapMailboxes, type MappedMailbox } from './mapping.ts';
import { followRenames, mayBeRenamed } from './renames.ts';
import { findAnew, settleAbandoned } from './recovery.ts';
import { readBack, settleAbsent, type CheckSession, type Findings } from './read-back.ts';
import { FolderLeft, type Check, type FolderReason, type Run, type Session } from './run.ts';

/** Listings of the source until one shows nothing new; a mailbox that never rests must not keep the transfer from ending. */
const PASSES = 5;
/** So many messages wait at most to be read back while others are copied. */
const UNCHECKED_AT_MOST = 4000;
/** What waits is read back together, up to so many messages and octets: each time costs two round trips. */
const READ_BACK_TOGETHER = { messages: 400, octets: 32_000_000 };

type Controls = AsyncDisposable & { readonly source: MailControl; readonly destination: MailControl };

type Engine = {
  readonly run: Run;
  readonly controls: Lanes<Controls>;
  readonly lanes: Lanes<Session>;
  /** One that works beside the lanes, and more once those are done. */
  readonly checker: Lanes<CheckSession>;
  readonly checkers: Lanes<CheckSession>;
  /** Aborts everything when one part has failed. */
  readonly failing: AbortController;
  /** Towards each account, the ones of `controls` and `checker` included. */
  readonly connections: { source: number; destination: number };
  /** Mailboxes are created in the background. */
  creating: boolean;
  /** They have been: there is a connection more for the lanes. */
  created: Promise<void>;
  /** The destination does not say UIDs: each lane reads back by itself. */
  saysUids: boolean;
  /** Resolved when nobody reads back beside the lanes of the round under way. */
  alone: PromiseWithResolvers<void>;
  /** Of the round under way. */
  checks: Stream<Check>;
  readonly findings: Findings;
  readonly forwarded: Forwarded;
  /** As they were last listed. */
  destinationPaths: readonly string[];
  /** By source path: what the folder was when it was last listed, and how many it did not list. */
  readonly seen: Map<string, { readonly opened: Opened; readonly unlisted: number }>;
  /** By source path: why a folder was left. */
  readonly left: Map<string, FolderReason>;
};

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
    return compareAll(engine);
  });
}

type Account = 'source' | 'destination';

/** A server that has not let all the connections in that are wanted at a time is gone on with over fewer. */
async function withEngine<Result>(given: MailCopy, work: (engine: Engine) => Promise<Result>): Promise<Result> {
  const most = { source: given.source.limits.connections, destination: given.destination.limits.connections };
  for (;;) {
    const { source, destination } = given;
    const refused = new Set<Account>();
    const copy = {
      ...given,
      source: { ...source, limits: { ...source.limits, connections: most.source } },
      destination: { ...destination, limits: { ...destination.limits, connections: most.destination } },
    };
    try {
      return await runEngine(copy, refused, work);
    } catch (error) {
      const fewer = [...refused].filter((account) => most[account] > 1);
      const isRefusal = error instanceof MailError && error.fault === 'busy' && error.pause === undefined;
      if (!isRefusal || fewer.length === 0 || given.signal.aborted) throw error;
      for (const account of fewer) most[account] -= 1;
    }
  }
}

/** @param refused is told the accounts that did not let a connection in */
async function runEngine<Result>(
  given: MailCopy,
  refused: Set<Account>,
  work: (engine: Engine) => Promise<Result>,
): Promise<Result> {
  const failing = new AbortController();
  const copy = { ...given, signal: AbortSignal.any([given.signal, failing.signal]) };
  const { ledger, clock, source, destination, signal } = copy;
  const counts = openCounts(copy);
  const towards = destination.limits.connections;
  const pool = { clock, signal, moved: counts.moved };
  const connections = { source: source.limits.connections, destination: towards };
  const counted: Counted = (account, opening) =>
    opening.catch((error: unknown) => {
      if (error instanceof MailError && error.fault === 'busy') {
        refused.add(account);
        connections[account] = Math.max(1, connections[account] - 1);
      }
      throw error;
    });
  const checking = { ...pool, open: () => openCheckSession(copy, counted) };
  await using controls = openLanes<Controls>({ ...pool, size: 1, open: () => openControls(copy, counted) });
  await using lanes = openLanes<Session>({
    ...pool,
    size: Math.max(1, Math.min(source.limits.connections, towards)),
    open: async () => {
      const session = await openSession(copy, counted);
      engine.saysUids = session.writer.traits.saysUids;
      return session;
    },
  });
  await using checker = openLanes<CheckSession>({ ...checking, size: 1 });
  await using checkers = openLanes<CheckSession>({ ...checking, size: Math.max(1, towards - 1) });
  controls.warm(1);
  await ledger.adopt();
  const known = new Map<string, LedgerMailbox[]>();
  for (const mailbox of await ledger.mailboxes())
    known.set(mailbox.sourcePath, [...(known.get(mailbox.sourcePath) ?? []), mailbox]);
  const budget = await openBudget({ source: source.limits, destination: destination.limits }, ledger, clock);
  const run: Run = {
    copy,
    check: (check) => engine.checks.push(check),
    room: async () => {
      if (towards > 1) await Promise.race([engine.checks.shrunk(UNCHECKED_AT_MOST), engine.alone.promise]);
    },
    budget,
    known,
    count: counts.set,
    settled: counts.add,
    refated: counts.refate,
    stale: new Set(),
    destinationPaths: () => engine.destinationPaths,
  };
  const engine: Engine = {
    run,
    controls,
    lanes,
    checker,
    checkers,
    failing,
    connections,
    creating: false,
    created: Promise.resolve(),
    saysUids: true,
    alone: Promise.withResolvers(),
    checks: openChecks(),
    findings: { flags: [], kept: new Map(), absent: [] },
    forwarded: openForwarded(run.destinationPaths, clock),
    destinationPaths: [],
    seen: new Map(),
    left: new Map(),
  };
  // Awaited here: what is `using` is disposed of when this function returns.
  return await work(engine);
}

function openChecks(): Stream<Check> {
  return openStream({
    weightOf: ({ messages }) => messages.length,
    join: (waiting, { mailbox, uidValidity, messages }) => {
      if (waiting.mailbox.id !== mailbox.id || waiting.uidValidity !== uidValidity) return null;
      const together = [...waiting.messages, ...messages];
      const octets = together.reduce((sum, { size }) => sum + size, 0);
      const isMuch = together.length > READ_BACK_TOGETHER.messages || octets > READ_BACK_TOGETHER.octets;
      return isMuch ? null : { ...waiting, messages: together };
    },
  });
}

/** How many lanes may stand now, so that there are never more connections than an account allows. */
function mostLanes({ connections, creating, saysUids }: Engine): number {
  const { source, destination } = connections;
  const spare = creating ? 1 : 0;
  if (!saysUids) return Math.min(source - spare, Math.floor((destination - spare) / 2));
  return Math.min(source, destination) - 1 - spare;
}

/** Closes what is not needed now. */
async function closeOthers(engine: Engine, needed: readonly (keyof Engine)[]): Promise<void> {
  const pools = (['controls', 'lanes', 'checker', 'checkers'] as const).filter((pool) => !needed.includes(pool));
  await Promise.all(pools.map((pool) => engine[pool][Symbol.asyncDispose]()));
}

async function copyUntilNothingIsNew(engine: Engine): Promise<void> {
  for (let pass = 1; pass <= PASSES; pass += 1) {
    await closeOthers(engine, isNarrow(engine.connections) ? ['controls'] : ['controls', 'checker']);
    const folders = await plan(engine);
    if (folders.length === 0) return;
    await engine.checkers[Symbol.asyncDispose]();
    if ((await copyRound(folders, engine)) === 0) return;
  }
}

/** The folders of the source that have changed since they were last listed: at first all. The inbox is the first. */
async function plan(engine: Engine): Promise<readonly Folder[]> {
  const { run, controls, lanes, checkers, seen, left } = engine;
  const sides: { theirs: readonly Mailbox[]; ours: readonly Mailbox[]; namespace: Namespace }[] = [];
  await controls.work(workOf([0]), async (_, { source, destination }) => {
    // Both passwords are good: what comes next is made ready.
    if (!isNarrow(engine.connections) && seen.size === 0) lanes.warm(mostLanes(engine) - 1);
    else if (!isNarrow(engine.connections)) checkers.warm(1);
    const [theirs, ours] = await Promise.all([source.mailboxes(), destination.mailboxes()]);
    sides.push({ theirs, ours, namespace: destination.namespace });
  });
  const side = sides.at(-1);
  if (side === undefined) throw new Error('The mailboxes were not listed.');
  const { theirs, ours, namespace } = side;
  engine.destinationPaths = ours.map((mailbox) => mailbox.path);
  const paths = new Set(theirs.map((mailbox) => mailbox.path));
  if (mayBeRenamed(paths, run)) {
    await controls[Symbol.asyncDispose]();
    await engine.lanes.work(
      workOf([0]),
      (_, { reader }) => followRenames(paths, reader, run),
      () => 1,
    );
    if (isNarrow(engine.connections)) await engine.lanes[Symbol.asyncDispose]();
  }
  const before = new Map([...run.known].flatMap(([path, [first]]) => (first ? [[path, first.destinationPath]] : [])));
  const mapping = mapMailboxes(theirs, ours, namespace, before);
  const current = new Set(mapping.mailboxes.map((mapped) => mapped.source.path));
  await settleVanished(current, engine);
  const folders = openFolders(mapping.mailboxes, engine);
  const old = folders.filter(({ sourcePath }) => seen.has(sourcePath));
  await settleCreations(folders, engine);
  if (old.length === 0) return folders.filter(({ sourcePath }) => !left.has(sourcePath));
  const changed = new Set<string>();
  let isLooking = true;
  /** For the last look, unless something new is found. */
  const makeReady = async () => {
    await engine.created;
    if (isLooking && !isNarrow(engine.connections))
      checkers.warm(Math.min(engine.connections.destination - 1, seen.size));
  };
  void makeReady();
  await checkers.work(
    workOf([0]),
    async (_, session) => {
      const reader = await session.reader();
      const now = await Promise.all(
        old.map(async ({ sourcePath }) => [sourcePath, await reader.status(sourcePath).catch(ignoreRefusal)] as const),
      );
      for (const [path, status] of now) if (!isSame(status, seen.get(path)?.opened)) changed.add(path);
    },
    () => 1,
  );
  isLooking = false;
  return folders.filter(
    ({ sourcePath }) => !left.has(sourcePath) && (changed.has(sourcePath) || !seen.has(sourcePath)),
  );
}

/** With few connections allowed, mailboxes are created before the rest begins; else meanwhile. */
async function settleCreations(folders: readonly Folder[], engine: Engine): Promise<void> {
  const { connections, controls } = engine;
  engine.creating = true;
  const created = async () => {
    await Promise.allSettled(folders.map((folder) => folder.destination()));
    await controls[Symbol.asyncDispose]();
    engine.creating = false;
  };
  engine.created = created();
  if (isNarrow(connections)) await engine.created;
}

function isNarrow({ source, destination }: Engine['connections']): boolean {
  return Math.min(source, destination) < 4;
}

/** With few connections allowed, those of the controls are for others once they have been used. */
async function spareControls({ connections, controls, creating }: Engine): Promise<void> {
  if (isNarrow(connections) && !creating) await controls[Symbol.asyncDispose]();
}

function ignoreRefusal(error: unknown): undefined {
  if (!(error instanceof MailError) || error.fault !== 'refused') throw error;
}

function isSame(now: Opened | undefined, before: Opened | undefined): boolean {
  return (
    now !== undefined &&
    now.uidNext !== undefined &&
    now.uidValidity === before?.uidValidity &&
    now.uidNext === before.uidNext &&
    now.exists === before.exists
  );
}

/** Open groups under mailboxes that the source no longer has. */
async function settleVanished(current: ReadonlySet<string>, { run, lanes }: Engine): Promise<void> {
  const groups = await run.copy.ledger.groups();
  if (groups.length === 0) return;
  const vanished = [...run.known.values()].flat().filter((mailbox) => !current.has(mailbox.sourcePath));
  const open = vanished.filter((mailbox) => groups.some((group) => group.mailboxId === mailbox.id));
  await lanes.work(workOf(open), (mailbox, session) =>
    settleAbandoned(
      mailbox,
      groups.filter((group) => group.mailboxId === mailbox.id),
      session,
      run,
    ),
  );
}

/** Creates what is missing, one after the other in the background; each folder waits for its own. */
function openFolders(mapped: readonly MappedMailbox[], engine: Engine): readonly Folder[] {
  const { controls, forwarded, run } = engine;
  const { lease } = run.copy;
  const create = async (path: string) => {
    await controls.work(workOf([path]), async (each, { destination }) => {
      if (!lease.mayWrite()) throw new LeaseLost(lease.transferId);
      await destination.create(each);
    });
    await spareControls(engine);
  };
  let before: Promise<unknown> = Promise.resolve();
  const ready = (each: MappedMailbox): Promise<string> => {
    const making = before.then(() => createMapped(each, create));
    // What follows waits for it, but does not fail with it; the folder itself does.
    before = making.catch(() => {});
    return making;
  };
  return mapped
    .toSorted((a, b) => Number(b.destination === 'INBOX') - Number(a.destination === 'INBOX'))
    .map((each) => {
      const destination = each.create ? ready(each) : Promise.resolve(each.destination);
      destination.catch(() => {});
      const sourcePath = each.source.path;
      return {
        sourcePath,
        isInbox: each.destination === 'INBOX',
        destination: () => destination,
        create,
        forwarded: (marked, session) => forwarded.brought(sourcePath, marked, session.reader, session.checker),
      };
    });
}

/** A server that refuses a name is asked for the plainer one. */
async function createMapped(mapped: MappedMailbox, create: (path: string) => Promise<void>): Promise<string> {
  let refusal: unknown;
  for (const path of new Set([mapped.destination, mapped.plainer])) {
    try {
      await create(path);
      return path;
    } catch (error) {
      if (!(error instanceof MailError) || error.fault !== 'refused') throw error;
      refusal = error;
    }
  }
  throw new FolderLeft('mailbox not created', refusal);
}

/**
 * Lists and copies folders, and reads back what was stored.
 * @returns how many messages waited
 */
async function copyRound(folders: readonly Folder[], engine: Engine): Promise<number> {
  const { run, lanes, checker, checkers, failing } = engine;
  const { limits } = run.copy.destination;
  engine.checks = openChecks();
  engine.alone = Promise.withResolvers();
  const { checks } = engine;
  const check = (item: Check, session: CheckSession) => readBack(item, session, run, engine.findings);
  const beside = limits.connections > 1 && engine.saysUids;
  let waited = 0;
  const copying = async () => {
    try {
      waited = await copyFolders(folders, engine);
      await lanes[Symbol.asyncDispose]();
    } finally {
      checks.end();
    }
    const isNext = waited > 0 && !isNarrow(engine.connections);
    if (isNext) engine.controls.warm(1);
    const most = () => engine.connections.destination - (isNext ? 2 : 1);
    if (checks.length() > 1) await checkers.work(checks, check, most);
  };
  const checkBeside = async () => {
    try {
      if (beside) await checker.work(checks, check);
    } catch (error) {
      // There is no connection left for it: what is stored is read back later.
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

async function copyFolders(folders: readonly Folder[], engine: Engine): Promise<number> {
  const { run, lanes, seen, left } = engine;
  const { forwardedMark, destination } = run.copy;
  const listings = new Map<string, FolderListing>();
  const leaving = async (folder: Folder, work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof FolderLeft)) throw error;
      left.set(folder.sourcePath, error.reason);
      await noteLeft(folder, listings.get(folder.sourcePath), error.reason, run);
    }
  };
  await lanes.work(
    workOf(folders),
    (folder, session) =>
      leaving(folder, async () => {
        listings.set(folder.sourcePath, await listFolder(folder, forwardedMark, session, run));
      }),
    () => mostLanes(engine),
  );
  let waited = 0;
  const copyOne = (folder: Folder, session: Session, goesOn: () => boolean) =>
    leaving(folder, async () => {
      // A folder that is worked on again after a fault is listed again.
      const listing = listings.get(folder.sourcePath) ?? (await listFolder(folder, forwardedMark, session, run));
      listings.delete(folder.sourcePath);
      const { opened, unlisted } = listing;
      waited += await copyFolder(folder, listing, session, run, goesOn);
      seen.set(folder.sourcePath, { opened, unlisted });
    });
  const listed = folders.filter(({ sourcePath }) => !left.has(sourcePath));
  // What a provider takes in a day is for the inbox first.
  const isLimited = destination.limits.upADay !== undefined;
  const first = listed.filter(({ isInbox }) => isInbox && isLimited);
  const most = () => mostLanes(engine);
  await lanes.work(workOf(first), copyOne, most);
  const others = workOf(listed.filter((folder) => !first.includes(folder)));
  await lanes.work(others, copyOne, most, engine.created);
  return waited;
}

async function noteLeft(
  { sourcePath, destination }: Folder,
  listing: FolderListing | undefined,
  reason: FolderReason,
  { copy }: Run,
): Promise<void> {
  await copy.ledger.addMailboxes([
    {
      sourcePath,
      sourceUidValidity: listing?.opened.uidValidity ?? 0n,
      destinationPath: await destination().catch(() => sourcePath),
      total: listing?.messages.length ?? 0,
      reason,
    },
  ]);
}

/** What reading back has left: flags that the server dropped, and messages that are not where they were stored. */
async function settleFindings(engine: Engine): Promise<void> {
  const { run, lanes, checkers, findings } = engine;
  const missing = findings.flags.splice(0);
  const times = new Map<string, number>();
  for (const { flags } of missing)
    for (const flag of flags) times.set(flag.toLowerCase(), (times.get(flag.toLowerCase()) ?? 0) + 1);
  // A server drops a flag from all messages; what it has kept on another one, or only one lacks, the subscriber took away.
  const isDropped = (path: string, flag: string) =>
    (times.get(flag) ?? 0) > 1 && findings.kept.get(path)?.has(flag) !== true;
  const dropped = missing
    .map(({ path, uid, flags }) => ({ path, uid, flags: flags.filter((flag) => isDropped(path, flag.toLowerCase())) }))
    .filter(({ flags }) => flags.length > 0);
  if (dropped.length > 0) await closeOthers(engine, ['lanes']);
  await lanes.work(
    workOf([...Map.groupBy(dropped, ({ path }) => path)]),
    async ([path, all], { writer }) => {
      const selected = await writer.select(path);
      for (const { uid, flags } of all) await writer.addFlags(path, uid, selected.keeps(flags));
    },
    () => 1,
  );
  const absent = Map.groupBy(findings.absent.splice(0), ({ check }) => check.mailbox.destinationPath);
  if (absent.size === 0) return;
  await listDestinationPaths(engine);
  await checkers.work(workOf([...absent]), ([path, all], session) => settleAbsent(path, all, session, run));
}

/** Lists them while nothing else is connected, and closes that connection. */
async function listDestinationPaths(engine: Engine): Promise<void> {
  await closeOthers(engine, []);
  await engine.controls.work(workOf([0]), async (_, { destination }) => {
    engine.destinationPaths = (await destination.mailboxes()).map((mailbox) => mailbox.path);
  });
  await closeOthers(engine, []);
}

/** The last look at both sides. What has to be found anew under another UIDVALIDITY may have to be copied again. */
async function compareAll(engine: Engine): Promise<CopyEnd> {
  const { run, checkers, lanes, seen, left } = engine;
  for (let round = 1; ; round += 1) {
    const sum = { lost: 0, duplicated: 0, changed: 0, kept: 0 };
    const stale: LedgerMailbox[] = [];
    await closeOthers(engine, isNarrow(engine.connections) ? ['checkers'] : ['checker', 'checkers']);
    await checkers.work(workOf(await run.copy.ledger.mailboxes()), async (mailbox, { checker }) => {
      if (mailbox.sourceUidValidity === 0n) return;
      const compared = await compareMailbox(mailbox, checker, run);
      for (const count of ['lost', 'duplicated', 'changed', 'kept'] as const) sum[count] += compared[count];
      if (compared.isStale || run.stale.has(mailbox.id)) stale.push(mailbox);
    });
    if (stale.length === 0 || round === PASSES) {
      const unlisted = [...seen.values()].reduce((total, each) => total + each.unlisted, 0);
      return { ...sum, unlisted, mailboxesLeft: left.size };
    }
    run.stale.clear();
    await listDestinationPaths(engine);
    await lanes.work(
      workOf(stale),
      async (mailbox, session) => {
        const checker = await session.checker();
        const { uidValidity } = await checker.open(mailbox.destinationPath);
        await findAnew(mailbox, uidValidity, session, run);
        seen.delete(mailbox.sourcePath);
      },
      () => 1,
    );
    await copyUntilNothingIsNew(engine);
  }
}

/** A server that wants a pause before it lets another connection in allows fewer than we thought. */
type Counted = <Opened>(account: Account, opening: Promise<Opened>) => Promise<Opened>;

async function openControls({ source, destination }: MailCopy, counted: Counted): Promise<Controls> {
  const [one, other] = await both(counted('source', source.control()), counted('destination', destination.control()));
  return { source: one, destination: other, [Symbol.asyncDispose]: () => closeAll([one, other]) };
}

async function openSession({ source, destination }: MailCopy, counted: Counted): Promise<Session> {
  const [reader, writer] = await both(counted('source', source.reader()), counted('destination', destination.writer()));
  let checker: MailReader | undefined;
  return {
    reader,
    writer,
    checker: async () => (checker ??= await counted('destination', destination.reader())),
    [Symbol.asyncDispose]: () => closeAll([reader, writer, ...(checker === undefined ? [] : [checker])]),
  };
}

async function openCheckSession({ source, destination }: MailCopy, counted: Counted): Promise<CheckSession> {
  const checker = await counted('destination', destination.reader());
  let reader: MailReader | undefined;
  return {
    checker,
    reader: async () => (reader ??= await counted('source', source.reader())),
    [Symbol.asyncDispose]: () => closeAll([checker, ...(reader === undefined ? [] : [reader])]),
  };
}

/** Both, or neither: the one that stands is closed when the other can't be had. */
async function both<One extends AsyncDisposable, Other extends AsyncDisposable>(
  one: Promise<One>,
  other: Promise<Other>,
): Promise<[One, Other]> {
  const [first, second] = await Promise.allSettled([one, other]);
  if (first.status === 'fulfilled' && second.status === 'fulfilled') return [first.value, second.value];
  await closeAll([first, second].flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])));
  throw first.status === 'rejected' ? first.reason : (second as PromiseRejectedResult).reason;
}

async function closeAll(sessions: readonly AsyncDisposable[]): Promise<void> {
  await Promise.all(sessions.map((session) => session[Symbol.asyncDispose]()));
}
