import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { DOVECOT, startDovecot } from '../support/dovecot.ts';
import { differenceOf } from '../support/mail-comparison.ts';
import { type Postgres, POSTGRESQL, startPostgres } from '../support/postgres.ts';
import { startFlags } from '../support/start-command.ts';
import { openWorld, order } from '../support/transfer-world.ts';
import type { FleetWorker } from './fleet-process.ts';
import { type Corpus, fillAccount } from './mailboxes.ts';

const ACCOUNTS = Number(process.env['FLEET_ACCOUNTS'] ?? 200);
const CORPUS: Corpus = { name: '100 messages each', mailboxes: 3, sizes: [2_000, 4_000, 9_000, 45_000], count: 100 };
const WORKERS = [1, 2, 4];
const AT_ONCE = 4;
const PASSWORD = 'pass';
const MEMORY = '/dev/shm';
const PROCESS = join(import.meta.dirname, 'fleet-process.ts');
const KILL_EVERY_MS = 5_000;
const LOOK_EVERY_MS = 250;

type Held = { readonly id: string; readonly epoch: number };

/** Worker processes on one PostgreSQL, without and with one of them killed every few seconds and another one started. */
export async function benchFleet(say: (line: string) => void): Promise<void> {
  if (DOVECOT === null || POSTGRESQL === null) return say('fleet: skipped, dovecot or PostgreSQL is not installed');
  await using postgres = await startPostgres();
  await using source = await startDovecot({ under: MEMORY, password: PASSWORD });
  await using destination = await startDovecot({ under: MEMORY, password: PASSWORD });
  const users = Array.from({ length: ACCOUNTS }, (_, at) => `user${at}@cable.example`);
  for (const user of users) await fillAccount({ port: source.port, user, password: PASSWORD }, CORPUS);
  for (const workers of WORKERS)
    for (const kills of [false, true]) {
      const place = { source: source.port, destination: destination.port };
      say(await benchRun({ postgres, place, users, workers, kills }));
    }
}

type Asked = {
  readonly postgres: Postgres;
  readonly place: { readonly source: number; readonly destination: number };
  readonly users: readonly string[];
  readonly workers: number;
  readonly kills: boolean;
};

async function benchRun({ postgres, place, users, workers, kills }: Asked): Promise<string> {
  const url = await postgres.create();
  const environment = {
    LEGACY_IMAP_URL: `imap://127.0.0.1:${place.source}`,
    YAHOO_IMAP_URL: `imap://127.0.0.1:${place.destination}`,
    TRANSFERS_AT_ONCE: String(AT_ONCE),
  };
  await using orders = await openWorld({ url }, environment, {}, false);
  const run = `${workers}${kills ? 'killed' : ''}`;
  for (const user of users)
    await orders.transfers.start(
      order({
        source: { email: user, password: PASSWORD, provider: 'sanbruno' },
        destination: { email: `${run}.${user}`, password: PASSWORD, provider: 'yahoo' },
      }),
    );
  const began = performance.now();
  const fleet = await Promise.all(Array.from({ length: workers }, () => startOne({ url, environment })));
  let dead = 0;
  let longest = 0;
  const held = () =>
    orders.database.query<Held>(
      'select id, epoch from transfers where finished is null and leased_until > clock_timestamp()',
    );
  const open = async () => (await orders.database.query('select id from transfers where finished is null')).length;
  let nextKill = performance.now() + KILL_EVERY_MS;
  let waiting: { readonly since: number; readonly held: readonly Held[] } | undefined;
  try {
    while ((await open()) > 0) {
      await wait(LOOK_EVERY_MS);
      if (waiting !== undefined) {
        const goneOn = await orders.database.query<Held>(
          'select id, epoch from transfers where id = any($1) and finished is null',
          [waiting.held.map(({ id }) => id)],
        );
        const epochs = new Map(goneOn.map(({ id, epoch }) => [id, epoch]));
        if (waiting.held.every(({ id, epoch }) => (epochs.get(id) ?? Infinity) > epoch)) {
          longest = Math.max(longest, performance.now() - waiting.since);
          waiting = undefined;
          // Else what has just gone on would be killed again and again.
          nextKill = performance.now() + KILL_EVERY_MS;
        }
      }
      if (!kills || performance.now() < nextKill || waiting !== undefined) continue;
      const at = Math.floor(Math.random() * fleet.length);
      const victim = fleet[at];
      if (victim === undefined) continue;
      // Only where there is one worker are all that are held those of the dead one.
      if (workers === 1) waiting = { since: performance.now(), held: await held() };
      await kill(victim);
      dead += 1;
      fleet[at] = await startOne({ url, environment });
      nextKill = performance.now() + KILL_EVERY_MS;
    }
  } finally {
    for (const worker of fleet) await kill(worker);
  }
  const seconds = (performance.now() - began) / 1000;
  const sum = { messages: 0, lost: 0, duplicated: 0, changed: 0 };
  for (const user of users) {
    const each = await differenceOf(
      { port: place.source, user, password: PASSWORD },
      { port: place.destination, user: `${run}.${user}`, password: PASSWORD },
    );
    sum.messages += each.messages;
    for (const count of ['lost', 'duplicated', 'changed'] as const) sum[count] += each[count].length;
  }
  const killed = kills
    ? `, ${dead} killed${workers === 1 ? `, their transfers gone on with after ${(longest / 1000).toFixed(1)} s at most` : ''}`
    : '';
  return `fleet: ${users.length} mailboxes of ${CORPUS.name}, ${workers} worker process${workers === 1 ? '' : 'es'}${killed}: ${(sum.messages / seconds).toFixed(0)} messages/s together; ${sum.lost} lost, ${sum.duplicated} duplicated, ${sum.changed} changed`;
}

async function startOne(worker: FleetWorker): Promise<ChildProcess> {
  const child = spawn(process.execPath, [...startFlags(), PROCESS, JSON.stringify(worker)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (child.stdout !== null) await once(child.stdout, 'data');
  return child;
}

async function kill(worker: ChildProcess): Promise<void> {
  const ended = once(worker, 'exit');
  worker.kill('SIGKILL');
  await ended;
}
