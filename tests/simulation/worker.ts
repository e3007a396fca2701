import type { Clock } from '../../src/server/clock.ts';
import type { Log } from '../../src/server/log.ts';
import { copyAndCompare } from '../../src/server/mail/copy/copy-mail.ts';
import type { Ledger } from '../../src/server/mail/copy/ledger/ledger.ts';
import { ProviderLimit } from '../../src/server/mail/copy/run/budget.ts';
import type { CopyEnd, CopyProgress, Orphans } from '../../src/server/mail/copy/run/mail-copy.ts';
import { SIZES } from '../../src/server/mail/copy/run/sizes.ts';
import { RefusedForNow } from '../../src/server/mail/copy/troubles/troubles.ts';
import type { MailAccount } from '../../src/server/mail/imap/connection.ts';
import { controlOver } from '../../src/server/mail/imap/control.ts';
import { heldControl, Hold } from '../../src/server/mail/imap/hold.ts';
import { isFarewell, MailError, mailErrorOf } from '../../src/server/mail/imap/mail-error.ts';
import { openStreamReader } from '../../src/server/mail/imap/wire/imap-stream-reader.ts';
import { openStreamWriter } from '../../src/server/mail/imap/wire/imap-stream-writer.ts';
import { openSession } from '../../src/server/mail/imap/wire/session.ts';
import { Stopped } from '../../src/server/stopped.ts';
import type { Database } from '../../src/server/store/database.ts';
import { LeaseLost, type HeldLease } from '../../src/server/transfers/lease.ts';
import { holdLease, TAKEN_FOR_SECONDS } from '../../src/server/worker/lease.ts';
import { verdictOn } from '../../src/server/worker/verdict.ts';
import type { Chance } from './chance.ts';
import { counting } from './crowd.ts';
import { DatabaseGone } from './database.ts';
import type { Receipt } from './judge.ts';
import type { Holding } from './ledger-tables.ts';
import { dial } from './network.ts';
import { FORWARDED_MARK } from './odd-mail.ts';
import type { SimulatedProcess } from './process.ts';
import type { Side } from './scenario.ts';
import { EPOCH } from './scheduler.ts';
import { openSimulatedLedger } from './simulated-ledger.ts';
import type { World } from './world.ts';

const LOOK_EVERY = 5000;

/** What is broken on purpose, so that the simulation can show that it sees it. */
export type Mutation = {
  readonly ledger?: (ledger: Ledger) => Ledger;
  readonly lease?: (lease: HeldLease) => HeldLease;
  /** The database lets everybody write, and take what another one has. */
  readonly isUnfenced?: boolean;
};

/** What the workers of a transfer have in common. */
export type Work = {
  readonly world: World;
  readonly transfer: string;
  readonly mutation: Mutation;
  /** The end that was committed. */
  receipt: Receipt | null;
  /** How often its operation has waited for what was refused, and for trouble. */
  refusalWaits: number;
  troubleWaits: number;
  /** Until then the queue hands it to no worker, in milliseconds of the scheduler. */
  restsUntil: number;
  /** Errors that no worker expects. */
  readonly crashes: unknown[];
};

/** Works on a transfer until it has ended, as the worker's queue would, in one process. */
export async function work(process: SimulatedProcess, job: Work): Promise<void> {
  const { world, transfer } = job;
  const { tables, database } = world;
  let idleRuns = 0;
  let [done, bytes] = [0, 0];
  const clock = clockOf(process, world);
  const holds = { source: new Hold(clock), destination: new Hold(clock) };
  for (;;) {
    while (process.now() < job.restsUntil) await wait(process, job.restsUntil - process.now());
    const taking = process.now();
    const taken = await asked(() =>
      database.ask(process, 'take', () => tables.take(transfer, TAKEN_FOR_SECONDS * 1000)),
    );
    if (taken === 'ended') return;
    if (taken === null || taken === 'held') {
      await wait(process, LOOK_EVERY);
      continue;
    }
    const holding = { transfer, epoch: taken };
    const lease = holdLease(leaseDatabase(process, world, holding), { transferId: transfer, epoch: taken }, taking, {
      clock,
      log: logOf(process, world),
      processEnds: new AbortController().signal,
    });
    const before = { done, bytes };
    let rest = 0;
    let hasArrived = false;
    idleRuns += 1;
    try {
      const end = await copyAndCompare(
        copyOf(process, job, { holding, holds }, job.mutation.lease?.(lease) ?? lease, (now) => {
          hasArrived ||= now.done - now.moved.refused > before.done || now.bytes > before.bytes;
          done = Math.max(done, now.done);
          bytes = Math.max(bytes, now.bytes);
        }),
      );
      await finish(process, job, holding, receiptOf(end));
      return;
    } catch (error) {
      if (hasArrived || (!isFarewell(error) && done > before.done)) idleRuns = 1;
      if (error instanceof RefusedForNow) idleRuns = 0;
      const next = await judged(error, { process, job, holding, idleRuns, hasMoved: done > 0 });
      if (next === null) return;
      rest = next.seconds;
      idleRuns += (next.counts ?? 1) - 1;
    } finally {
      await lease[Symbol.asyncDispose]();
    }
    await wait(process, rest * 1000);
  }
}

type Failed = {
  readonly process: SimulatedProcess;
  readonly job: Work;
  readonly holding: Holding;
  readonly idleRuns: number;
  readonly hasMoved: boolean;
};

/** After how many seconds it is tried again, and how many idle runs the last one counts as, if not one. */
type Next = { readonly seconds: number; readonly counts?: number | undefined };
const SOON: Next = { seconds: LOOK_EVERY / 1000 };

/** @returns `null` when it has ended */
async function judged(error: unknown, { process, job, holding, idleRuns, hasMoved }: Failed): Promise<Next | null> {
  job.world.scheduler.note(`${process.name} fails: ${String(error)}`);
  if (error instanceof LeaseLost || error instanceof Stopped || error instanceof DatabaseGone) return SOON;
  if (!(error instanceof MailError) && !(error instanceof ProviderLimit)) job.crashes.push(error);
  if (error instanceof RefusedForNow) job[error.waited] += 1;
  const verdict = verdictOn(error, idleRuns, hasMoved, clockOf(process, job.world).now());
  switch (verdict.kind) {
    case 'pass on':
      return SOON;
    case 'later':
      job.restsUntil = process.now() + verdict.seconds * 1000;
      return { seconds: 0, counts: verdict.waiting?.counts };
    case 'attention':
    case 'end': {
      const { status, failure = '' } = verdict.end;
      const ended = await asked(() =>
        finish(process, job, holding, {
          status,
          failure,
          lost: 0,
          duplicated: 0,
          changed: 0,
          kept: 0,
          unlisted: 0,
          mailboxesLeft: 0,
        }),
      );
      return ended === null ? SOON : null;
    }
  }
}

function receiptOf(end: CopyEnd): Receipt {
  const { lost, duplicated, changed, unlisted, mailboxesLeft } = end;
  return { ...end, status: lost + duplicated + changed + unlisted + mailboxesLeft === 0 ? 'completed' : 'review' };
}

async function finish(process: SimulatedProcess, job: Work, holding: Holding, receipt: Receipt): Promise<true> {
  const { database, tables } = job.world;
  await database.ask(process, 'finish', () => {
    tables.finish(holding);
    job.receipt = receipt;
  });
  return true;
}

/** @returns `null` when the database did not answer, or the lease is another's */
async function asked<Answer>(ask: () => Promise<Answer>): Promise<Answer | null> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof DatabaseGone || error instanceof LeaseLost) return null;
    throw error;
  }
}

function wait(process: SimulatedProcess, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    process.timer(milliseconds, resolve);
  });
}

/** As much of the database as the lease asks for. */
function leaseDatabase(process: SimulatedProcess, { tables, database }: World, holding: Holding): Database {
  const query = async (text: string, parameters: readonly unknown[] = []) => {
    const isRelease = text.includes('leased_until = null');
    if (!isRelease && !text.includes('leased_until = clock_timestamp()'))
      throw new Error(`The lease asks for something new: ${text}`);
    const milliseconds = isRelease ? 0 : Number(parameters[2]) * 1000;
    const label = isRelease ? 'release' : 'heartbeat';
    return (await database.ask(process, label, () => tables.confirm(holding, milliseconds))) ? [{}] : [];
  };
  return { query } as unknown as Database;
}

function logOf(process: SimulatedProcess, { scheduler }: World): Log {
  return { warn: (_: unknown, text: string) => scheduler.note(`${process.name} warns: ${text}`) } as unknown as Log;
}

function clockOf(process: SimulatedProcess, { scenario }: World): Clock {
  return {
    now: () => {
      const jumped = scenario.clockJumps.reduce((sum, { at, by }) => (at <= process.now() ? sum + by : sum), 0);
      return EPOCH + Math.floor(process.now() + jumped);
    },
    elapsed: () => process.now(),
    after: (milliseconds, run) => {
      const timer = process.timer(milliseconds, run);
      return () => timer.cancel();
    },
  };
}

function copyOf(
  process: SimulatedProcess,
  job: Work,
  { holding, holds }: { readonly holding: Holding; readonly holds: Readonly<Record<Side, Hold>> },
  lease: HeldLease,
  onProgress: (counts: CopyProgress) => void,
) {
  const { world, mutation } = job;
  const { scenario, scheduler } = world;
  const { sizes } = scenario;
  const chance: Chance = world.chance.fork();
  const clock = clockOf(process, world);
  const signal = new AbortController().signal;
  const ledger = openSimulatedLedger(world.tables, holding, world.database, process);
  const tell = (side: Side) => (connections: number) => {
    if (connections > scenario.connections)
      world.crowded.add(`${process.name} has ${connections} connections to the ${side}, of ${scenario.connections}`);
  };
  const connect = async (side: Side, isExtra = false) => {
    const dialling = () => dial(world.hosts[side], process, scheduler, chance);
    try {
      return await (isExtra ? dialling() : counting(process, side, dialling, tell(side)));
    } catch (error) {
      throw mailErrorOf(error);
    }
  };
  const session = (side: Side, isExtra = false) =>
    openSession(ACCOUNT, {
      dial: async () => ({ socket: await connect(side, isExtra) }),
      clock,
      signal,
      hold: holds[side],
      isUrgent: isExtra,
      mayWrite: lease.mayWrite,
      role: side,
      ...(sizes === undefined ? {} : { readAhead: sizes.readAhead }),
    });
  const reading = (side: Side) => ({
    control: () => heldControl(holds[side], async () => controlOver(await session(side)), signal),
    reader: async () => openStreamReader(await session(side)),
    limits: { connections: scenario.connections },
  });
  const { window } = scenario.destination;
  const { upADay } = scenario;
  return {
    source: reading('source'),
    destination: {
      ...reading('destination'),
      // What came too late is taken back over one more.
      writer: async (late?: { readonly evenStopped: true }) =>
        openStreamWriter(await session('destination', late?.evenStopped === true)),
      limits: {
        connections: scenario.connections,
        ...(window === undefined ? {} : { window }),
        ...(upADay === undefined ? {} : { upADay }),
      },
    },
    ledger: mutation.ledger?.(ledger) ?? ledger,
    lease,
    clock,
    signal,
    processEnds: signal,
    onStep: (step: string, mailbox: string) => scheduler.note(`${process.name} step ${step} in ${mailbox}`),
    onProgress,
    onMade: async (path: string) => scheduler.note(`${process.name} made ${path}`),
    onOrphans: (mailbox: { readonly destinationPath: string }, { uids, unsaid }: Orphans) => {
      world.orphans.count += uids.length + unsaid;
      scheduler.note(
        `${process.name} leaves ${uids.join(', ')} and ${unsaid} more in ${mailbox.destinationPath} behind`,
      );
    },
    forwardedMark: FORWARDED_MARK,
    refusalWaits: job.refusalWaits,
    troubleWaits: job.troubleWaits,
    sizes: sizes ?? SIZES,
  };
}

const ACCOUNT: MailAccount = {
  email: 'anna@example.org',
  place: { host: 'imap.example.org', port: 143, security: 'open', named: 'by operator' },
  credentials: { kind: 'password', password: 'secret' },
};
