import { isBareRefusal, isRefusal, isSpent, MailError } from '../imap/mail-error.ts';
import type { Opened } from '../imap/streams.ts';
import { openForwarded, type Forwarded } from './forwarded.ts';
import { openStream, workOf, type Stream } from './lanes/lane-work.ts';
import { openLanes, type Lanes } from './lanes/lanes.ts';
import type { LedgerMailbox } from './ledger/ledger.ts';
import type { FolderReason } from './ledger/reasons.ts';
import type { Findings } from './reading-back/read-back.ts';
import { octetsIn } from './reading-back/shares.ts';
import { openBudget } from './run/budget.ts';
import { openCounts } from './run/counts.ts';
import type { MailCopy } from './run/mail-copy.ts';
import { PlanAgain, type Budget, type Check, type CheckSession, type Run, type Session } from './run/run.ts';
import {
  openCheckSession,
  openControls,
  openSession,
  type Account,
  type Controls,
  type Counted,
} from './run/sessions.ts';
import type { Sizes } from './run/sizes.ts';
import { openFaults } from './troubles/breaks.ts';

/** How many messages at most wait to be read back while others are copied. */
const UNCHECKED_AT_MOST = 4000;

/** After a mailbox has changed its identity this often in one run, it is taken for what it is now. */
const PLANS_AT_MOST = 3;

/** What one run of a copy works with: its pools of connections, and what it has found so far. */
export type Engine = {
  readonly run: Run;
  /**
   * The source's mailboxes are listed once more although nothing has waited: without an earlier transfer that
   * completed, it is unknown what a list leaves out.
   */
  readonly listsAgain: boolean;
  readonly controls: Lanes<Controls>;
  readonly lanes: Lanes<Session>;
  /** `checker` works beside the lanes, `checkers` once those are done. */
  readonly checker: Lanes<CheckSession>;
  readonly checkers: Lanes<CheckSession>;
  /** Aborts everything when one part has failed. */
  readonly failing: AbortController;
  /** How many connections each account gets, those of `controls` and `checker` included. */
  readonly connections: { source: number; destination: number };
  /** Whether the controls are open, or being closed. */
  controlled: boolean;
  /** Resolved when they have been closed, which leaves one more connection for the lanes. */
  released: Promise<void>;
  /** Whether the destination reports the UIDs of what it stores; if not, nothing can be read back beside the lanes. */
  saysUids: boolean;
  /**
   * Whether it takes messages of any size without a round trip (LITERAL+), so that one connection fills the bandwidth.
   */
  takesUnannounced: boolean;
  /**
   * Whether the source can be listed over a connection that has read from it, so that the next round needs no other.
   */
  listsOverReaders: boolean;
  /** Grows when something is moved, looked at or given up, which tells a run that goes on from one that is stuck. */
  readonly moved: () => number;
  /** Resolved when nobody reads back any more beside the lanes of the current round. */
  alone: PromiseWithResolvers<void>;
  /** What waits to be read back in the current round. */
  checks: Stream<Check>;
  readonly findings: Findings;
  readonly forwarded: Forwarded;
  /** As they were last listed. */
  sourcePaths: readonly string[];
  destinationPaths: readonly string[];
  /** By source path: the folder's state when it was last listed, and how many messages that left out. */
  readonly seen: Map<string, { readonly opened: Opened; readonly unlisted: number }>;
  /** Source paths, in the ledger's form, that an earlier run knew of but whose content it could not list. */
  readonly heardOf: ReadonlySet<string>;
  /** Source paths that were known, or heard of, and were not listed any more. */
  readonly missed: Set<string>;
  /** What an earlier worker stored too late, and this run has taken back. */
  readonly takenBack: Set<string>;
  /** How often all mailboxes had to be listed again because one had changed its identity. */
  plannedAgain: number;
  /** By source path: why a folder was left. */
  readonly left: Map<string, FolderReason>;
  /** Those of `left` that get a second try at the next listing; `null` before there is one. */
  again: Set<string> | null;
  /** By source path: those that were left for an error that the server calls passing, or for a NO without a code. */
  readonly troubled: Map<string, MailError>;
};

/** Runs `work`, and again with fewer connections to a server that did not allow all of them. */
export async function withEngine<Result>(given: MailCopy, work: (engine: Engine) => Promise<Result>): Promise<Result> {
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
      if (!isRefusal || isSpent(error) || fewer.length === 0 || given.signal.aborted) throw error;
      for (const account of fewer) most[account] -= 1;
    }
  }
}

/** @param refused receives the accounts that did not allow a connection */
async function runEngine<Result>(
  given: MailCopy,
  refused: Set<Account>,
  work: (engine: Engine) => Promise<Result>,
): Promise<Result> {
  const failing = new AbortController();
  const copy = { ...given, signal: AbortSignal.any([given.signal, failing.signal]) };
  const { ledger, clock, source, destination, signal } = copy;
  let budget: Budget | undefined;
  const counts = openCounts(copy, () => budget?.room() ?? Infinity);
  const towards = destination.limits.connections;
  let looked = 0;
  const asked = new Set<string>();
  const pool = { clock, signal, moved: () => counts.moved() + looked };
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
  const seen: Engine['seen'] = new Map();
  // After the first listing the destination is asked for its mailboxes only when something is new at the source.
  const accounts = () => (seen.size > 0 ? 'source' : 'both');
  await using controls = openLanes<Controls>({ ...pool, size: 1, open: () => openControls(copy, counted, accounts()) });
  await using lanes = openLanes<Session>({
    ...pool,
    size: Math.max(1, Math.min(source.limits.connections, towards)),
    open: async () => {
      const session = await openSession(copy, counted);
      const { saysUids, literals } = session.writer.traits;
      engine.saysUids = saysUids;
      engine.takesUnannounced = literals === 'any size';
      engine.listsOverReaders = session.reader.canListMailboxes;
      return session;
    },
  });
  await using checker = openLanes<CheckSession>({ ...checking, size: 1 });
  await using checkers = openLanes<CheckSession>({ ...checking, size: Math.max(1, towards - 1) });
  controls.warm(1);
  const isResumed = (await ledger.mailboxes()).length > 0;
  await ledger.adopt();
  const known = new Map<string, LedgerMailbox[]>();
  const heardOf = new Set<string>();
  for (const mailbox of await ledger.mailboxes()) {
    // A mailbox that was never listed does not count as known.
    if (mailbox.sourceUidValidity === 0n) {
      heardOf.add(mailbox.sourcePath);
      continue;
    }
    known.set(mailbox.sourcePath, [...(known.get(mailbox.sourcePath) ?? []), mailbox]);
  }
  budget = await openBudget({ source: source.limits, destination: destination.limits }, ledger, clock);
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
    looked: () => {
      looked += 1;
    },
    said: new Map(),
    otherwise: new Map(),
    unlooked: new Map(),
    searches: new Map(),
    stale: new Set(),
    gone: new Map(),
    unsure: new Map(),
    ...openFaults(),
    opened: { source: new Set(), destination: new Set() },
    askAgain: (messages) => {
      const fresh = messages.filter((message) => !asked.has(message));
      for (const message of fresh) asked.add(message);
      if (fresh.length > 0) throw new MailError('lost', 'A server lists a message and does not hand it out.');
    },
    planAgain: (account, path, uidValidity) => {
      const times = run.noteFault(`plan for ${account} ${path} under ${uidValidity ?? 'none'}`);
      if ((uidValidity !== undefined && times > 1) || run.noteFault(`plan for ${account} ${path}`) > PLANS_AT_MOST)
        return;
      engine.plannedAgain += 1;
      throw new PlanAgain('A mailbox may have another name by now.');
    },
    sourcePaths: () => engine.sourcePaths,
    destinationPaths: () => engine.destinationPaths,
  };
  const engine: Engine = {
    run,
    listsAgain: isResumed || known.size === 0,
    controls,
    lanes,
    checker,
    checkers,
    failing,
    connections,
    controlled: false,
    released: Promise.resolve(),
    saysUids: true,
    takesUnannounced: false,
    listsOverReaders: false,
    moved: pool.moved,
    alone: Promise.withResolvers(),
    checks: openChecks(copy.sizes),
    findings: { flags: [], kept: new Map(), absent: [], late: new Set(), read: new WeakSet(), unread: new Map() },
    forwarded: openForwarded(run.destinationPaths, clock, ledger, run),
    sourcePaths: [],
    destinationPaths: [],
    seen,
    heardOf,
    missed: new Set(),
    takenBack: new Set(),
    plannedAgain: 0,
    left: new Map(),
    again: null,
    troubled: new Map(),
  };
  const result = await work(engine);
  // All at once: `await using` closes one after the other, each with a round trip for LOGOUT.
  await closeOthers(engine, []);
  return result;
}

/** @returns a function that notes an error at these mailboxes, if it may pass */
export function troubleWith(
  { troubled }: Engine,
  ...mailboxes: readonly Pick<LedgerMailbox, 'sourcePath'>[]
): (error: MailError) => void {
  return (error) => {
    if (isRefusal(error) && !isBareRefusal(error)) return;
    for (const { sourcePath } of mailboxes) troubled.set(sourcePath, error);
  };
}

/** Checks of one mailbox that wait are joined, to be read back together. */
export function openChecks({ readBack: most }: Sizes): Stream<Check> {
  return openStream({
    weightOf: ({ messages }) => messages.length,
    areAlike: (waiting, { mailbox, uidValidity }) =>
      waiting.mailbox.id === mailbox.id && waiting.uidValidity === uidValidity,
    join: (waiting, { messages }) => {
      const together = [...waiting.messages, ...messages];
      const isMuch = together.length > most.messages || octetsIn(together) > most.octets;
      return isMuch ? null : { ...waiting, messages: together };
    },
  });
}

/**
 * How many lanes may be open now, beside the checker, so that there are not more connections than an account allows.
 */
export function mostLanes({ connections, controlled, saysUids }: Engine): number {
  const { source, destination } = connections;
  return Math.min(source, destination) - (saysUids ? 1 : 0) - (controlled ? 1 : 0);
}

/** How many checkers may be open beside the one that works beside the lanes. */
export function mostCheckers({ connections, controlled }: Engine): number {
  return connections.destination - 1 - (controlled ? 1 : 0);
}

/** Whether an account allows so few connections that its pools have to take turns. */
export function isNarrow({ source, destination }: Engine['connections']): boolean {
  return Math.min(source, destination) < 4;
}

/** Closes the pools that are not needed now. */
export async function closeOthers(engine: Engine, needed: readonly (keyof Engine)[]): Promise<void> {
  const pools = (['controls', 'lanes', 'checker', 'checkers'] as const).filter((pool) => !needed.includes(pool));
  await Promise.all(pools.map((pool) => engine[pool][Symbol.asyncDispose]()));
}

/** Lists the destination's mailboxes while nothing else is connected, and closes that connection. */
export async function listDestinationPaths(engine: Engine): Promise<void> {
  await closeOthers(engine, []);
  await engine.controls.work(workOf([0]), async (_, { destination }) => {
    engine.destinationPaths = (await (await destination()).mailboxes()).map((mailbox) => mailbox.path);
  });
  await closeOthers(engine, []);
}
