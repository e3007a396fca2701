import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DOVECOT, type DovecotOptions, startDovecot } from '../support/dovecot.ts';
import { selfSigned } from '../support/certificate.ts';
import { openMailClient } from '../support/mail-client.ts';
import { differenceOf } from '../support/mail-comparison.ts';
import { type Postgres, POSTGRESQL, startPostgres } from '../support/postgres.ts';
import { startFlags } from '../support/start-command.ts';
import type { EngineJob, EngineMeasured, EnginePlace } from './engine-process.ts';
import { startLatency } from './latency.ts';
import { type Corpus, fillAccount, HUGE, LARGE, REALISTIC, SMALL } from './mailboxes.ts';
import { spentOn } from './machine-cpu.ts';
import { mbsyncWith, type PeerAccount, reading, yardstick } from './peers.ts';
import { MEMORY, settle } from './settle.ts';

/** Runs of each; the median counts. */
const RUNS = Number(process.env['BENCH_RUNS'] ?? 5);
/** What the yardstick signs in with. */
const PASSWORD = 'pass';
const USER = 'bench@cable.example';
const ONE_WAY_MS = 20;
const DISK = tmpdir();
/** A worker that runs for weeks has moved mailboxes before: so many here, and fewer where the line is what takes the time. */
const [MOVED_BEFORE, MOVED_FAR_BEFORE] = [10, 1];
/** More than any run takes. */
const TOUCHED_MEGABYTES = 1_000;
const PROCESS = join(import.meta.dirname, 'engine-process.ts');
/** What Dovecot says it can do, without what is left out. */
const PLAIN =
  'IMAP4rev1 SASL-IR LOGIN-REFERRALS ID ENABLE IDLE NAMESPACE LIST-EXTENDED SPECIAL-USE CHILDREN UNSELECT ESEARCH';
/** Each message is announced and waited for, as with Outlook. */
const SYNCHRONISING: DovecotOptions = { capabilities: `${PLAIN} UIDPLUS` };

type Scene = {
  readonly name: string;
  readonly corpus: Corpus;
  /** Where the mail lies. */
  readonly under: string;
  readonly delay?: number;
  readonly destination?: DovecotOptions;
  readonly yardstick?: true;
  /** The destination is spoken to over TLS, by both. */
  readonly tls?: true;
  /** Each time by a worker that has just been started. */
  readonly cold?: true;
  /** It is said how long mbsync would take if what it stored were read back, with all cores always full. */
  readonly bound?: true;
};

const SCENES: readonly Scene[] = [
  { name: 'in memory', corpus: REALISTIC, under: MEMORY, yardstick: true },
  { name: 'on disk', corpus: REALISTIC, under: DISK, yardstick: true },
  { name: '20 ms each way', corpus: REALISTIC, under: MEMORY, delay: ONE_WAY_MS, yardstick: true },
  {
    name: '20 ms each way, synchronising literals',
    corpus: REALISTIC,
    under: MEMORY,
    delay: ONE_WAY_MS,
    destination: SYNCHRONISING,
  },
  { name: 'without UIDPLUS', corpus: REALISTIC, under: MEMORY, destination: { capabilities: `${PLAIN} LITERAL+` } },
  { name: 'in memory', corpus: SMALL, under: MEMORY },
  { name: 'in memory', corpus: LARGE, under: MEMORY, yardstick: true, bound: true },
  { name: 'in memory, TLS to the destination', corpus: REALISTIC, under: MEMORY, tls: true, bound: true },
];
const COLD: Scene = {
  name: 'in memory, by a worker that has just been started',
  corpus: REALISTIC,
  under: MEMORY,
  yardstick: true,
  cold: true,
};

/** Mailbox to mailbox on PostgreSQL, every octet read back, beside mbsync and the yardstick on the same servers. */
export async function benchEngine(say: (line: string) => void): Promise<void> {
  if (DOVECOT === null || POSTGRESQL === null) return say('engine: skipped, dovecot or PostgreSQL is not installed');
  await using postgres = await startPostgres();
  const wanted = process.env['BENCH_SCENES']?.split(',').map(Number);
  const benches = [
    ...SCENES.map((scene) => () => benchScene(scene, postgres, say)),
    () => benchNothingToDo(SMALL, postgres, say),
    () => benchAtOnce(postgres, say),
    () => (process.env['BENCH_HUGE'] === 'on' ? benchNothingToDo(HUGE, postgres, say) : undefined),
    () => benchScene(COLD, postgres, say),
    () => benchRecentMail(postgres, say),
  ];
  for (const [at, bench] of benches.entries()) if (wanted === undefined || wanted.includes(at)) await bench();
}

async function benchScene(scene: Scene, postgres: Postgres, say: (line: string) => void): Promise<void> {
  const { corpus, under, delay = 0, cold = false } = scene;
  await using certificate = scene.tls === true ? await certificateFiles() : undefined;
  await using source = await startDovecot({ under, password: PASSWORD, durable: true });
  await using destination = await startDovecot({
    under,
    password: PASSWORD,
    durable: true,
    ...scene.destination,
    ...(certificate === undefined ? {} : { tls: certificate }),
  });
  await fillAccount({ port: source.port, user: USER, password: PASSWORD }, corpus);
  await using near = await startLatency(source.port, delay);
  await using far = await startLatency(certificate === undefined ? destination.port : destination.tlsPort, delay);
  const mbsync = mbsyncWith(PASSWORD);
  const bare = scene.yardstick === true ? yardstick(postgres) : null;
  const place = async () => placeOf(near, { port: far.port, tls: certificate !== undefined }, await postgres.create());
  await using warm = cold ? null : startWorker(await place(), certificate?.certificate);
  const own: EngineMeasured[] = [];
  const peer: number[] = [];
  const ideal: number[] = [];
  const cpus: number[] = [];
  const bounds: number[] = [];
  const from = { port: near.port, user: USER };
  const to = (user: string) => ({ port: far.port, user, ...(certificate && { certificate: certificate.certificate }) });
  const before = delay > 0 ? MOVED_FAR_BEFORE : MOVED_BEFORE;
  for (let time = 0; time < (cold ? 0 : before); time += 1) {
    await warm?.move([{ user: USER, newUser: `before${time}@yahoo.example` }]);
    await destination.wipe();
  }
  for (let time = 0; time < RUNS; time += 1) {
    if (mbsync !== null) {
      const account = to(`mbsync${time}@peer.example`);
      await settle(TOUCHED_MEGABYTES);
      const { result, spent } = await spentOn(() => mbsync(from, account));
      peer.push(result);
      if (scene.bound === true) bounds.push((spent.machine + (await spentOnReading(account))) / availableParallelism());
    }
    await settle(TOUCHED_MEGABYTES);
    if (bare !== null) ideal.push(await bare(from, to(`yardstick${time}@peer.example`)));
    await settle(TOUCHED_MEGABYTES);
    const user = `own${time}@yahoo.example`;
    await using worker = warm === null ? startWorker(await place(), certificate?.certificate) : null;
    const { result: measured, spent } = await spentOn(async () =>
      (worker ?? warm)?.move([{ user: USER, newUser: user }]),
    );
    if (measured !== undefined) own.push(measured);
    cpus.push(spent.machine);
    const { lost, duplicated, changed } = await differenceOf(
      { port: source.port, user: USER, password: PASSWORD },
      { port: destination.port, user, password: PASSWORD },
    );
    if (lost.length + duplicated.length + changed.length > 0) throw new Error('The copy is not what was copied.');
    await destination.wipe();
  }
  const ms = median(own.map((each) => each.ms));
  const ratio = (name: string, others: readonly number[]) =>
    others.length === 0 ? '' : `, ${(median(others) / ms).toFixed(2)} × ${name} (${rate(corpus, median(others))})`;
  say(
    `engine: ${corpus.name} ${scene.name}: ${rate(corpus, ms)} messages/s${ratio('mbsync', peer)}${ratio('the yardstick', ideal)}; ${about(own, corpus)}; ${seconds(median(cpus))} of CPU on the whole machine${
      bounds.length === 0
        ? ''
        : `; mbsync and reading back, with all cores full: ${seconds(median(bounds))}, ${(median(peer) / median(bounds)).toFixed(2)} × mbsync`
    }`,
  );
}

/** What the server alone spends when all of an account is read. */
async function spentOnReading(account: PeerAccount): Promise<number> {
  const read = reading();
  if (read === null) return 0;
  const { spent } = await spentOn(() => read(account));
  return spent.machine - spent.programs;
}

/** A second order with nothing new, in a process of its own. */
async function benchNothingToDo(corpus: Corpus, postgres: Postgres, say: (line: string) => void): Promise<void> {
  await using source = await startDovecot({ under: MEMORY, password: PASSWORD });
  await using destination = await startDovecot({ under: MEMORY, password: PASSWORD });
  const began = performance.now();
  await fillAccount({ port: source.port, user: USER, password: PASSWORD }, corpus);
  const filled = performance.now() - began;
  const place = placeOf(source, destination, await postgres.create());
  const move = async () => {
    await using worker = startWorker(place);
    return worker.move([{ user: USER, newUser: 'again@yahoo.example' }]);
  };
  const first = await move();
  const again = await move();
  say(
    `engine: nothing to do for ${corpus.name}: ${lasting(again)}; copied before in ${lasting(first)}; filled in ${seconds(filled)}`,
  );
}

/** How soon the newest thousand of the inbox are there, where each message has to be announced and waited for. */
async function benchRecentMail(postgres: Postgres, say: (line: string) => void): Promise<void> {
  const corpus: Corpus = {
    name: 'four folders of 1,500 messages',
    mailboxes: 4,
    sizes: SMALL.sizes,
    count: 6_000,
  };
  const newest = 1_000;
  await using source = await startDovecot({ under: MEMORY, password: PASSWORD });
  await using destination = await startDovecot({ under: MEMORY, password: PASSWORD, ...SYNCHRONISING });
  const [from, to] = [accountAt(source), accountAt(destination)];
  await fillAccount(from, corpus);
  await using near = await startLatency(source.port, ONE_WAY_MS);
  await using far = await startLatency(destination.port, ONE_WAY_MS);
  await using worker = startWorker(placeOf(near, far, await postgres.create()));
  await using looker = await openMailClient(far.port, USER, PASSWORD);
  const began = performance.now();
  const moved = worker.move([{ user: USER, newUser: USER }]);
  let there = 0;
  // Each look takes as long as the line does.
  while (there < newest) {
    const [answer = ''] = await looker.command('STATUS INBOX (MESSAGES)');
    there = Number(/MESSAGES (\d+)/.exec(answer)?.[1]);
  }
  const recent = performance.now() - began;
  const { ms } = await moved;
  const [brought, wanted] = await Promise.all([digestsOf(to), digestsOf(from)]);
  if (brought.slice(0, newest).join() !== wanted.slice(-newest).join())
    throw new Error('They are not the newest ones.');
  say(
    `engine: ${corpus.name}, 20 ms each way, synchronising literals: the newest thousand of the inbox are there after ${seconds(recent)}, all of them after ${seconds(ms)}`,
  );
}

function accountAt({ port }: { readonly port: number }) {
  return { port, user: USER, password: PASSWORD };
}

/** SHA-256 of each message of the inbox, in its order. */
async function digestsOf({ port, user, password }: ReturnType<typeof accountAt>): Promise<string[]> {
  await using client = await openMailClient(port, user, password);
  return (await client.read('INBOX')).map(({ sha256 }) => sha256);
}

function lasting({ ms, rss }: EngineMeasured): string {
  return `${seconds(ms)}, ${(rss / 1e6).toFixed(0)} MB at most`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

/** In turn, by one worker: its memory is the most of all. */
async function benchAtOnce(postgres: Postgres, say: (line: string) => void): Promise<void> {
  await using source = await startDovecot({ under: MEMORY, password: PASSWORD });
  await using destination = await startDovecot({ under: MEMORY, password: PASSWORD });
  const corpus = { ...REALISTIC, name: 'mailboxes of 2,000 realistic messages' };
  const counts = [1, 4, 8];
  const users = Array.from({ length: Math.max(...counts) }, (_, at) => `user${at}@cable.example`);
  for (const user of users) await fillAccount({ port: source.port, user, password: PASSWORD }, corpus);
  const place = { ...placeOf(source, destination, await postgres.create()), atOnce: users.length };
  await using worker = startWorker(place);
  const own = new Map<number, EngineMeasured[]>(counts.map((transfers) => [transfers, []]));
  for (let time = 0; time < RUNS + 1; time += 1)
    for (const transfers of counts) {
      await settle(TOUCHED_MEGABYTES);
      const job = users.slice(0, transfers).map((user, at) => ({ user, newUser: `${time}.${at}@yahoo.example` }));
      const measured = await worker.move(job);
      // The first time is to warm it.
      if (time > 0) own.get(transfers)?.push(measured);
      await destination.wipe();
    }
  for (const [transfers, measured] of own) {
    const all = { ...corpus, count: corpus.count * transfers };
    say(
      `engine: ${transfers} at once, ${corpus.name}: ${rate(all, median(measured.map(({ ms }) => ms)))} messages/s together; ${about(measured, all)}`,
    );
  }
}

function placeOf(
  source: { readonly port: number },
  destination: { readonly port: number; readonly tls?: boolean },
  url: string,
): EnginePlace {
  return {
    url,
    source: `imap://127.0.0.1:${source.port}`,
    destination: `${destination.tls === true ? 'imaps://localhost' : 'imap://127.0.0.1'}:${destination.port}`,
    password: PASSWORD,
    atOnce: 1,
  };
}

type Worker = AsyncDisposable & { readonly move: (job: EngineJob) => Promise<EngineMeasured> };

/**
 * A worker in a process of its own, as `npm start` starts one.
 * @param certificate a file of one that it is to believe as if a public authority had signed it
 */
function startWorker(place: EnginePlace, certificate?: string): Worker {
  const child = spawn(process.execPath, [...startFlags(), PROCESS, JSON.stringify(place)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...(certificate === undefined ? {} : { NODE_EXTRA_CA_CERTS: certificate }) },
  });
  const gone = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    move: async (job) => {
      child.stdin.write(`${JSON.stringify(job)}\n`);
      const { value, done } = await lines.next();
      if (done === true) throw new Error('The worker has ended.');
      const measured = JSON.parse(value) as EngineMeasured;
      if (measured.faults > 0) throw new Error('A transfer did not end well.');
      return measured;
    },
    [Symbol.asyncDispose]: async () => {
      child.stdin.end();
      await gone;
    },
  };
}

function about(own: readonly EngineMeasured[], { count }: Corpus): string {
  const cpu = median(own.map((each) => each.cpu)) / count;
  const commits = median(own.map((each) => each.commits));
  const [wal, grown] = [median(own.map((each) => each.wal)), median(own.map((each) => each.grown))];
  const log = `${(wal / 1e6).toFixed(1)} MB of WAL, ${(grown / 1e6).toFixed(1)} MB of tables`;
  return `${cpu.toFixed(2)} ms of CPU a message, ${commits} commits, ${log}, ${(Math.max(...own.map(({ rss }) => rss)) / 1e6).toFixed(0)} MB at most${finishOf(own)}`;
}

/** Of a run of seconds no finish time is said. */
function finishOf(own: readonly EngineMeasured[]): string {
  const errors = own.flatMap(({ finish }) => finish);
  if (errors.length === 0) return '';
  const within = errors.filter((error) => Math.abs(error) <= 0.2).length;
  const most = errors.reduce((worst, error) => (Math.abs(error) > Math.abs(worst) ? error : worst), 0);
  return `, finish time said ${errors.length} times, ${within} within 20 %, off by ${(100 * most).toFixed(0)} % at most`;
}

/** Those of a server that nobody vouches for, which both peers are told to believe. */
async function certificateFiles(): Promise<AsyncDisposable & { readonly certificate: string; readonly key: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'certificate-'));
  const files = { certificate: join(folder, 'cert'), key: join(folder, 'key') };
  const made = await selfSigned('localhost');
  // Dovecot reads them as another user.
  await chmod(folder, 0o755);
  await writeFile(files.key, made.key);
  await writeFile(files.certificate, made.cert);
  return { ...files, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

function rate({ count }: Corpus, ms: number): string {
  return Math.round((count * 1000) / ms).toLocaleString('en-US');
}
