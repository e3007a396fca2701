import { isSpent, MailError } from '../imap/mail-error.ts';
import { closeOthers, openChecks, type Engine } from './engine.ts';
import { openForwarded } from './forwarded.ts';
import { openPools } from './lanes/pools.ts';
import type { Ledger, LedgerMailbox } from './ledger/ledger.ts';
import { openBudget } from './run/budget.ts';
import { openCounts, type Counts } from './run/counts.ts';
import type { MailCopy } from './run/mail-copy.ts';
import { PlanAgain, type Budget, type Run } from './run/run.ts';
import type { Account } from './run/sessions.ts';
import { openFaults } from './troubles/breaks.ts';

/** How many messages at most wait to be read back while others are copied. */
const UNCHECKED_AT_MOST = 4000;

/** After a mailbox has changed its identity this often in one run, it is taken for what it is now. */
const PLANS_AT_MOST = 3;

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
  const { ledger, clock, source, destination } = copy;
  let budget: Budget | undefined;
  const counts = openCounts(copy, () => budget?.room() ?? Infinity);
  const seen: Engine['seen'] = new Map();
  // After the first listing the destination is asked for its mailboxes only when something is new at the source.
  const listed = () => (seen.size > 0 ? 'source' : 'both');
  await using pools = openPools(copy, { refused, moved: counts.moved, listed });
  pools.controls.warm(1);
  const isResumed = (await ledger.mailboxes()).length > 0;
  await ledger.adopt();
  const { known, heardOf } = await mailboxesIn(ledger);
  budget = await openBudget({ source: source.limits, destination: destination.limits }, ledger, clock);
  const run = openRun({ copy, known, budget, counts }, () => engine);
  const engine: Engine = {
    ...pools,
    run,
    listsAgain: isResumed || known.size === 0,
    failing,
    controlled: false,
    released: Promise.resolve(),
    moved: counts.moved,
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

/** What the ledger knows of mailboxes: `known`, and those `heardOf` that were never listed, by source path. */
async function mailboxesIn(ledger: Ledger): Promise<Pick<Run, 'known'> & Pick<Engine, 'heardOf'>> {
  const known = new Map<string, LedgerMailbox[]>();
  const heardOf = new Set<string>();
  for (const mailbox of await ledger.mailboxes()) {
    const { sourcePath, sourceUidValidity } = mailbox;
    if (sourceUidValidity === 0n) heardOf.add(sourcePath);
    else known.set(sourcePath, [...(known.get(sourcePath) ?? []), mailbox]);
  }
  return { known, heardOf };
}

type Given = Pick<Run, 'copy' | 'known' | 'budget'> & { readonly counts: Counts };

/** @param engine gives what has the run, once there is one */
function openRun({ copy, known, budget, counts }: Given, engine: () => Engine): Run {
  const { noteFault, ...faults } = openFaults();
  const asked = new Set<string>();
  return {
    copy,
    check: (check) => engine().checks.push(check),
    room: async () => {
      if (copy.destination.limits.connections > 1)
        await Promise.race([engine().checks.shrunk(UNCHECKED_AT_MOST), engine().alone.promise]);
    },
    budget,
    known,
    count: counts.set,
    settled: counts.add,
    settledFound: counts.addFound,
    refated: counts.refate,
    looked: counts.looked,
    said: new Map(),
    otherwise: new Map(),
    unlooked: new Map(),
    searches: new Map(),
    stale: new Set(),
    gone: new Map(),
    unsure: new Map(),
    ...faults,
    noteFault,
    opened: { source: new Set(), destination: new Set() },
    askAgain: (messages) => {
      const fresh = messages.filter((message) => !asked.has(message));
      for (const message of fresh) asked.add(message);
      if (fresh.length > 0) throw new MailError('lost', 'A server lists a message and does not hand it out.');
    },
    planAgain: (account, path, uidValidity) => {
      const times = noteFault(`plan for ${account} ${path} under ${uidValidity ?? 'none'}`);
      if ((uidValidity !== undefined && times > 1) || noteFault(`plan for ${account} ${path}`) > PLANS_AT_MOST) return;
      engine().plannedAgain += 1;
      throw new PlanAgain('A mailbox may have another name by now.');
    },
    sourcePaths: () => engine().sourcePaths,
    destinationPaths: () => engine().destinationPaths,
  };
}
