import { peakMemory } from '../support/peak-memory.ts';
import { setTimeout as wait } from 'node:timers/promises';
import { openWorld, order } from '../support/transfer-world.ts';

/** Accounts of one password; each of `users` goes to its place in `newUsers`, at once, after each of `before` has. */
export type EngineJob = {
  readonly url: string;
  readonly source: string;
  readonly destination: string;
  readonly password: string;
  readonly users: readonly string[];
  readonly newUsers: readonly string[];
  readonly before: readonly { readonly user: string; readonly newUser: string }[];
};

/**
 * Milliseconds, CPU in milliseconds, commits, octets of the write-ahead log, and by how many the tables
 * have grown; `rss` is the most octets that the process ever had.
 */
export type EngineMeasured = {
  readonly ms: number;
  readonly cpu: number;
  readonly commits: number;
  readonly wal: number;
  readonly grown: number;
  readonly rss: number;
  readonly faults: number;
  /** By how much of the whole time the finish was too late, as it was said in each tenth after the first. */
  readonly finish: readonly number[];
};

/** Asking costs as well, so it is asked seldom and little. */
const ASKED_EVERY_MS = 50;
const job = JSON.parse(process.argv[2] ?? '') as EngineJob;
await using world = await openWorld(
  { url: job.url },
  {
    LEGACY_IMAP_URL: job.source,
    YAHOO_IMAP_URL: job.destination,
    TRANSFERS_AT_ONCE: String(job.users.length),
  },
);

type Written = { readonly commits: number; readonly wal: number; readonly size: number };

async function writtenSoFar(): Promise<Written> {
  const [row] = await world.database.query<Written>(
    `select xact_commit::float8 as commits, (pg_current_wal_insert_lsn() - '0/0')::float8 as wal,
       pg_database_size(current_database())::float8 as size
     from pg_stat_database where datname = current_database()`,
  );
  if (row === undefined) throw new Error('PostgreSQL keeps no statistics.');
  return row;
}

type Mail = { readonly done: number; readonly total: number | null; readonly left: number | null };
const MAIL = `select done, total, left_seconds - extract(epoch from clock_timestamp() - left_noted)::float8 as left
  from operations where transfer_id = $1 and operation = 'emailmigration' and finished is null`;
/** Milliseconds since the epoch: asked seldom, a run is seen to have ended some time after it has. */
const ENDED = `select max(extract(epoch from finished))::float8 * 1000 as last from operations where transfer_id = $1`;
let ended = 0;
/** When the transfers were to be done, as said once in each tenth. */
const said: { readonly tenth: number; readonly finish: number }[] = [];

async function move(user: string, newUser: string): Promise<number> {
  const { id } = await world.transfers.start(
    order({
      source: { email: user, password: job.password, provider: 'sanbruno' },
      destination: { email: newUser, password: job.password, provider: 'yahoo' },
    }),
  );
  for (;;) {
    const [mail] = await world.database.query<Mail>(MAIL, [id]);
    if (mail === undefined) break;
    const tenth = Math.floor((10 * mail.done) / Math.max(1, mail.total ?? 0));
    if (mail.left !== null && said.every((each) => each.tenth !== tenth))
      said.push({ tenth, finish: Date.now() + mail.left * 1000 });
    await wait(ASKED_EVERY_MS);
  }
  const [{ last } = { last: 0 }] = await world.database.query<{ last: number }>(ENDED, [id]);
  ended = Math.max(ended, last);
  const { status, lost = 0, duplicated = 0, changed = 0 } = (await world.transfers.status(id))?.emailmigration ?? {};
  return lost + duplicated + changed + (status === 'completed' ? 0 : 1);
}

// The same order again, shortly after, would be taken for a lost answer.
await world.database.query("update transfers set submit_key = submit_key || '.before'");
for (const { user, newUser } of job.before)
  if ((await move(user, newUser)) > 0) throw new Error('A transfer did not end well.');
said.splice(0);
const before = await writtenSoFar();
const [began, cpu] = [Date.now(), process.cpuUsage()];
const faults = await Promise.all(job.users.map((user, at) => move(user, job.newUsers[at] ?? '')));
const { user, system } = process.cpuUsage(cpu);
const after = await writtenSoFar();
const measured: EngineMeasured = {
  ms: ended - began,
  finish: said.map(({ finish }) => (finish - ended) / (ended - began)),
  cpu: (user + system) / 1000,
  commits: after.commits - before.commits,
  wal: after.wal - before.wal,
  grown: after.size - before.size,
  rss: peakMemory(),
  faults: faults.reduce((sum, each) => sum + each, 0),
};
process.stdout.write(`${JSON.stringify(measured)}\n`);
