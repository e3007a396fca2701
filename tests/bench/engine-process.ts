import { setTimeout as wait } from 'node:timers/promises';
import { openWorld, order } from '../support/transfer-world.ts';

/** Accounts of one password; each of `users` goes to its place in `newUsers`, at once, `times` times one after another. */
export type EngineJob = {
  readonly url: string;
  readonly source: string;
  readonly destination: string;
  readonly password: string;
  readonly users: readonly string[];
  readonly newUsers: readonly string[];
  readonly times: number;
};

/** Of the last time: milliseconds, CPU in milliseconds, commits; `rss` is the most octets that the process ever had. */
export type EngineMeasured = {
  readonly ms: number;
  readonly cpu: number;
  readonly commits: number;
  readonly rss: number;
  readonly faults: number;
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

async function commitsSoFar(): Promise<number> {
  const [row] = await world.database.query<{ commits: number }>(
    'select xact_commit::float8 as commits from pg_stat_database where datname = current_database()',
  );
  return row?.commits ?? 0;
}

async function move(user: string, newUser: string): Promise<number> {
  const { id } = await world.transfers.start(
    order({
      source: { email: user, password: job.password, provider: 'sanbruno' },
      destination: { email: newUser, password: job.password, provider: 'yahoo' },
    }),
  );
  while ((await world.database.query('select 1 from transfers where id = $1 and finished is null', [id])).length > 0)
    await wait(ASKED_EVERY_MS);
  const { status, lost = 0, duplicated = 0, changed = 0 } = (await world.transfers.status(id))?.emailmigration ?? {};
  return lost + duplicated + changed + (status === 'completed' ? 0 : 1);
}

for (let time = 1; time <= job.times; time += 1) {
  // The same order again, shortly after, would be taken for a lost answer.
  await world.database.query("update transfers set submit_key = submit_key || '.before'");
  const [began, cpu, commits] = [performance.now(), process.cpuUsage(), await commitsSoFar()];
  const faults = await Promise.all(job.users.map((user, at) => move(user, job.newUsers[at] ?? '')));
  const { user, system } = process.cpuUsage(cpu);
  const measured: EngineMeasured = {
    ms: performance.now() - began,
    cpu: (user + system) / 1000,
    commits: (await commitsSoFar()) - commits,
    rss: process.resourceUsage().maxRSS * 1024,
    faults: faults.reduce((sum, each) => sum + each, 0),
  };
  if (time === job.times) process.stdout.write(`${JSON.stringify(measured)}\n`);
}
