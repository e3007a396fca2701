import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { peakMemory } from '../support/peak-memory.ts';
import { openWorld, order } from '../support/transfer-world.ts';

/** Where a worker works; each of its accounts has this password. */
export type EnginePlace = {
  readonly url: string;
  readonly source: string;
  readonly destination: string;
  readonly password: string;
  readonly atOnce: number;
};

/** Each account of the source and where it goes; all at once. A line of the standard input each. */
export type EngineJob = readonly { readonly user: string; readonly newUser: string }[];

/**
 * Milliseconds, CPU in milliseconds, commits that wrote, octets of the write-ahead log, and by how many the tables
 * have grown; `rss` is the most octets that the process ever had. A line of the standard output for each job.
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
const place = JSON.parse(process.argv[2] ?? '') as EnginePlace;
await using world = await openWorld(
  { url: place.url },
  { LEGACY_IMAP_URL: place.source, YAHOO_IMAP_URL: place.destination, TRANSFERS_AT_ONCE: String(place.atOnce) },
);

type Written = { readonly commits: number; readonly wal: number; readonly size: number };

async function writtenSoFar(): Promise<Written> {
  const [row] = await world.database.query<Written>(
    `select pg_snapshot_xmax(pg_current_snapshot())::text::float8 as commits,
       (pg_current_wal_insert_lsn() - '0/0')::float8 as wal, pg_database_size(current_database())::float8 as size`,
  );
  if (row === undefined) throw new Error('PostgreSQL does not answer.');
  return row;
}

type Mail = { readonly done: number; readonly total: number | null; readonly left: number | null };
const MAIL = `select done, total, left_seconds - extract(epoch from clock_timestamp() - left_noted)::float8 as left
  from operations where transfer_id = $1 and operation = 'emailmigration' and finished is null`;
/** Milliseconds since the epoch: asked seldom, a run is seen to have ended some time after it has. */
const ENDED = `select max(extract(epoch from finished))::float8 * 1000 as last from operations where transfer_id = $1`;

type Said = { readonly tenth: number; readonly finish: number };

/** @param said is told when the transfers were to be done, as said once in each tenth */
async function move({ user, newUser }: EngineJob[number], said: Said[]): Promise<{ faults: number; ended: number }> {
  const { id } = await world.transfers.start(
    order({
      source: { email: user, password: place.password, provider: 'sanbruno' },
      destination: { email: newUser, password: place.password, provider: 'yahoo' },
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
  const { status, lost = 0, duplicated = 0, changed = 0 } = (await world.transfers.status(id))?.emailmigration ?? {};
  return { faults: lost + duplicated + changed + (status === 'completed' ? 0 : 1), ended: last };
}

async function measure(job: EngineJob): Promise<EngineMeasured> {
  // The same order again, shortly after, would be taken for a lost answer.
  await world.database.query("update transfers set submit_key = submit_key || '.before'");
  const said: Said[] = [];
  const before = await writtenSoFar();
  const [began, cpu] = [Date.now(), process.cpuUsage()];
  const moved = await Promise.all(job.map((each) => move(each, said)));
  const { user, system } = process.cpuUsage(cpu);
  const ended = Math.max(...moved.map((each) => each.ended));
  const after = await writtenSoFar();
  return {
    ms: ended - began,
    finish: said.map(({ finish }) => (finish - ended) / (ended - began)),
    cpu: (user + system) / 1000,
    commits: after.commits - before.commits,
    wal: after.wal - before.wal,
    grown: after.size - before.size,
    rss: peakMemory(),
    faults: moved.reduce((sum, each) => sum + each.faults, 0),
  };
}

for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(await measure(JSON.parse(line) as EngineJob))}\n`);
