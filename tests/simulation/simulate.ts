import { judge, type Receipt, type Told } from './judge.ts';
import { openProcess } from './process.ts';
import type { Scenario } from './scenario.ts';
import { work, type Mutation, type Work } from './worker.ts';
import { openWorld, type World } from './world.ts';

const MOST_EVENTS = 3_000_000;
/** A freeze in which another worker may take over, and how long it takes at most to take something back, in milliseconds. */
const [LONG_FREEZE, TAKE_BACK] = [20_000, 20_000];

export type Outcome = {
  /** What was wrong, in words; empty when all went well. */
  readonly wrong: readonly string[];
  readonly receipts: readonly Receipt[];
  readonly trace: readonly string[];
  readonly events: number;
  readonly accounts: World['accounts'];
  /** Of workers. */
  readonly deaths: number;
};

/** Runs the engine in a scenario, order after order, and judges each. */
export async function simulate(
  scenario: Scenario,
  options: { readonly mutation?: Mutation; readonly keepsTrace?: boolean } = {},
): Promise<Outcome> {
  const unhandled: unknown[] = [];
  const noteUnhandled = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', noteUnhandled);
  const { stackTraceLimit } = Error;
  // Where errors came from costs an eighth of the whole; one seed that is told in full has it.
  if (options.keepsTrace !== true) Error.stackTraceLimit = 0;
  try {
    const outcome = await simulated(scenario, options);
    // A worker process dies of it.
    const deaths = unhandled.map((error) => `a rejection that nobody handles: ${textOf(error)}`);
    return { ...outcome, wrong: [...deaths, ...outcome.wrong] };
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    process.off('unhandledRejection', noteUnhandled);
  }
}

async function simulated(
  scenario: Scenario,
  options: { readonly mutation?: Mutation; readonly keepsTrace?: boolean },
): Promise<Outcome> {
  const world = openWorld(scenario, { keepsTrace: options.keepsTrace ?? false });
  const { scheduler, tables, accounts } = world;
  tables.isFenced = options.mutation?.isUnfenced !== true;
  const wrong: string[] = [];
  const receipts: Receipt[] = [];
  const workers: Workers = { started: 0, died: 0 };
  const { backedUpAt } = scenario;
  if (backedUpAt !== undefined)
    scheduler.after(backedUpAt, 'a backup is taken', () => {
      const restore = tables.backUp();
      workers.restore = () => {
        scheduler.note('the backup is restored');
        restore();
        delete workers.restore;
      };
    });
  for (let order = 1; order <= scenario.orders && wrong.length === 0; order += 1) {
    const transfer = `order ${order}`;
    tables.begin(transfer);
    const job: Work = {
      world,
      transfer,
      mutation: options.mutation ?? {},
      receipt: null,
      refusalWaits: 0,
      troubleWaits: 0,
      restsUntil: 0,
      crashes: [],
    };
    for (let count = 1; count <= scenario.workers; count += 1) startWorker(job, workers);
    const ending = await scheduler.run(() => job.receipt !== null || job.crashes.length > 0, MOST_EVENTS);
    for (const crash of job.crashes) wrong.push(`crashed: ${textOf(crash)}`);
    wrong.push(...world.crowded, ...(isCalm(scenario) ? world.impatient : []));
    if (wrong.length > 0) break;
    const { receipt } = job;
    if (receipt === null) {
      wrong.push(`order ${order} is ${ending} at ${Math.round(scheduler.now())} ms`);
      break;
    }
    receipts.push(receipt);
    // What its owner has been told is not undone.
    delete workers.restore;
    const ended = scheduler.now();
    const rest = await scheduler.run(() => false, MOST_EVENTS);
    if (rest !== 'stuck') wrong.push('something goes on for ever after the end');
    for (const crash of job.crashes) wrong.push(`crashed: ${textOf(crash)}`);
    wrong.push(
      ...judge({
        scenario,
        ...accounts,
        receipt,
        ended,
        told: toldOf(world, transfer),
        noted: tables.notes(transfer).flatMap(({ sourcePath, reason }) => (reason ? [`${sourcePath} ${reason}`] : [])),
        orphans: world.orphans.count,
        cutShort: world.cutShort,
      }),
    );
  }
  const { trace } = scheduler;
  return {
    wrong,
    receipts,
    trace,
    events: scheduler.events(),
    deaths: workers.died,
    accounts,
  };
}

/** Each hint is surely heard, soon. */
function isCalm({ stops, links, workers }: Scenario): boolean {
  return stops.length + links.length === 0 && workers === 1;
}

/** `restore`: once there is a backup that has not been restored. */
type Workers = { started: number; died: number; restore?: () => void };

function startWorker(job: Work, workers: Workers): void {
  const { scheduler, scenario, chance } = job.world;
  // What the one that died had asked of the database before is not asked of the restored one.
  if (workers.died > 0) workers.restore?.();
  workers.started += 1;
  const number = workers.started;
  const worker = openProcess(
    scheduler,
    `worker${number}`,
    scenario.stops.filter((stop) => stop.worker === number),
  );
  const again = () => {
    scheduler.after(chance.fraction() * 5000, 'another worker starts', () => startWorker(job, workers));
  };
  worker.onDeath(again);
  worker.onDeath(() => {
    workers.died += 1;
  });
  worker.onDeath(({ stood, since }) => {
    if (stood >= LONG_FREEZE && since < TAKE_BACK) job.world.cutShort.set(worker.name, scheduler.now() - since);
  });
  worker.onFreeze(again);
  work(worker, job).catch((error: unknown) => {
    job.crashes.push(error);
  });
}

function textOf(error: unknown): string {
  return (error instanceof Error ? error.stack : undefined) ?? String(error);
}

function toldOf({ tables }: World, transfer: string): Told {
  return tables.mailboxes(transfer).map(({ id, sourcePath, sourceUidValidity, destinationPath }) => ({
    sourcePath,
    destinationPath,
    uidValidity: Number(sourceUidValidity),
    rows: tables.rows(id),
    ...tables.totalOf(id),
  }));
}
