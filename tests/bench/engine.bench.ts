import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { DOVECOT, type DovecotOptions, startDovecot } from '../support/dovecot.ts';
import { selfSigned } from '../support/certificate.ts';
import { installed } from '../support/installed.ts';
import { differenceOf } from '../support/mail-comparison.ts';
import { type Postgres, POSTGRESQL, startPostgres } from '../support/postgres.ts';
import { run } from '../support/run.ts';
import { startFlags } from '../support/start-command.ts';
import type { EngineJob, EngineMeasured } from './engine-process.ts';
import { type Latency, startLatency } from './latency.ts';
import { type Corpus, fillAccount, HUGE, LARGE, REALISTIC, SMALL } from './mailboxes.ts';

/** Runs of each; the median counts. */
const RUNS = Number(process.env['BENCH_RUNS'] ?? 5);
/** What the yardstick signs in with. */
const PASSWORD = 'pass';
const USER = 'bench@cable.example';
/** With so many messages. */
const [SMALLER_USER, SMALLER] = ['smaller@cable.example', 400];
const ONE_WAY_MS = 20;
const MEMORY = '/dev/shm';
/** The bare client of the same room as the project, which knows the happy path only. */
const YARDSTICK = resolve('../shared/bench/raw-grouped.mjs');
const PROCESS = join(import.meta.dirname, 'engine-process.ts');
/** What Dovecot says it can do, without what is left out. */
const PLAIN =
  'IMAP4rev1 SASL-IR LOGIN-REFERRALS ID ENABLE IDLE NAMESPACE LIST-EXTENDED SPECIAL-USE CHILDREN UNSELECT ESEARCH';

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
  /** So often the process has moved a smaller mailbox before: a worker runs for weeks. */
  readonly before?: number;
};

const SCENES: readonly Scene[] = [
  { name: 'in memory', corpus: REALISTIC, under: MEMORY, yardstick: true },
  { name: 'on disk', corpus: REALISTIC, under: tmpdir(), yardstick: true },
  { name: '20 ms each way', corpus: REALISTIC, under: MEMORY, delay: ONE_WAY_MS, yardstick: true },
  {
    name: '20 ms each way, synchronising literals',
    corpus: REALISTIC,
    under: MEMORY,
    delay: ONE_WAY_MS,
    destination: { capabilities: `${PLAIN} UIDPLUS` },
  },
  { name: 'without UIDPLUS', corpus: REALISTIC, under: MEMORY, destination: { capabilities: `${PLAIN} LITERAL+` } },
  { name: 'in memory', corpus: SMALL, under: MEMORY },
  { name: 'in memory', corpus: LARGE, under: MEMORY },
  { name: 'in memory, TLS to the destination', corpus: REALISTIC, under: MEMORY, tls: true },
];
const WARM: Scene = {
  name: 'in memory, by a warm worker',
  corpus: REALISTIC,
  under: MEMORY,
  yardstick: true,
  before: 15,
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
    () => benchScene(WARM, postgres, say),
  ];
  for (const [at, bench] of benches.entries()) if (wanted === undefined || wanted.includes(at)) await bench();
}

async function benchScene(scene: Scene, postgres: Postgres, say: (line: string) => void): Promise<void> {
  const { corpus, under, delay = 0 } = scene;
  await using certificate = scene.tls === true ? await certificateFiles() : undefined;
  await using source = await startDovecot({ under, password: PASSWORD });
  await using destination = await startDovecot({
    under,
    password: PASSWORD,
    ...scene.destination,
    ...(certificate === undefined ? {} : { tls: certificate }),
  });
  await fillAccount({ port: source.port, user: USER, password: PASSWORD }, corpus);
  if (scene.before !== undefined)
    await fillAccount({ port: source.port, user: SMALLER_USER, password: PASSWORD }, { ...corpus, count: SMALLER });
  await using near = await startLatency(source.port, delay);
  await using far = await startLatency(destination.port, delay);
  const program = installed('mbsync');
  const own: EngineMeasured[] = [];
  const peer: number[] = [];
  const yardstick: number[] = [];
  for (let time = 0; time < RUNS; time += 1) {
    if (program !== null)
      peer.push(await timed(() => runMbsync(program, near, { ...far, ...certificate }, `mbsync${time}@peer.example`)));
    if (scene.yardstick === true && existsSync(YARDSTICK))
      yardstick.push(await runYardstick(near, far, `yardstick${time}@peer.example`, await postgres.create()));
    const user = `own${time}@yahoo.example`;
    const before = Array.from({ length: scene.before ?? 0 }, (_, at) => {
      return { user: SMALLER_USER, newUser: `before${time}.${at}@yahoo.example` };
    });
    own.push(await measured({ ...jobOf(near, far, await postgres.create(), [[USER, user]]), before }));
    const { lost, duplicated, changed } = await differenceOf(
      { port: source.port, user: USER, password: PASSWORD },
      { port: destination.port, user, password: PASSWORD },
    );
    if (lost.length + duplicated.length + changed.length > 0) throw new Error('The copy is not what was copied.');
  }
  const ms = median(own.map((each) => each.ms));
  const ratio = (name: string, others: readonly number[]) =>
    others.length === 0 ? '' : `, ${(median(others) / ms).toFixed(2)} × ${name} (${rate(corpus, median(others))})`;
  say(
    `engine: ${corpus.name} ${scene.name}: ${rate(corpus, ms)} messages/s${ratio('mbsync', peer)}${ratio('the yardstick', yardstick)}; ${about(own, corpus)}`,
  );
}

/** A second order with nothing new, in a process of its own. */
async function benchNothingToDo(corpus: Corpus, postgres: Postgres, say: (line: string) => void): Promise<void> {
  await using source = await startDovecot({ under: MEMORY, password: PASSWORD });
  await using destination = await startDovecot({ under: MEMORY, password: PASSWORD });
  const filled = await timed(() => fillAccount({ port: source.port, user: USER, password: PASSWORD }, corpus));
  const job = jobOf(source, destination, await postgres.create(), [[USER, 'again@yahoo.example']]);
  const first = await measured(job);
  const again = await measured(job);
  say(
    `engine: nothing to do for ${corpus.name}: ${lasting(again)}; copied before in ${lasting(first)}; filled in ${seconds(filled)}`,
  );
}

function lasting({ ms, rss }: EngineMeasured): string {
  return `${seconds(ms)}, ${(rss / 1e6).toFixed(0)} MB at most`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

async function benchAtOnce(postgres: Postgres, say: (line: string) => void): Promise<void> {
  await using source = await startDovecot({ under: MEMORY, password: PASSWORD });
  await using destination = await startDovecot({ under: MEMORY, password: PASSWORD });
  const corpus = { ...REALISTIC, name: '1,000 messages each', count: 1_000 };
  const filled = new Set<string>();
  for (const transfers of [1, 4, 8]) {
    const users = Array.from({ length: transfers }, (_, at) => `user${at}@cable.example`);
    for (const user of users.filter((each) => !filled.has(each))) {
      await fillAccount({ port: source.port, user, password: PASSWORD }, corpus);
      filled.add(user);
    }
    const own: EngineMeasured[] = [];
    for (let time = 0; time < RUNS; time += 1) {
      const pairs = users.map((user, at) => [user, `at${transfers}.${time}.${at}@yahoo.example`] as const);
      own.push(await measured(jobOf(source, destination, await postgres.create(), pairs)));
    }
    const all = { ...corpus, count: corpus.count * transfers };
    say(
      `engine: ${transfers} at once, ${corpus.name}: ${rate(all, median(own.map(({ ms }) => ms)))} messages/s together; ${about(own, all)}`,
    );
  }
}

function jobOf(
  source: { readonly port: number },
  destination: { readonly port: number },
  url: string,
  pairs: readonly (readonly [string, string])[],
): EngineJob {
  return {
    url,
    source: `imap://127.0.0.1:${source.port}`,
    destination: `imap://127.0.0.1:${destination.port}`,
    password: PASSWORD,
    users: pairs.map(([user]) => user),
    newUsers: pairs.map(([, user]) => user),
    before: [],
  };
}

async function measured(job: EngineJob): Promise<EngineMeasured> {
  const child = spawn(process.execPath, [...startFlags(), PROCESS, JSON.stringify(job)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  const told = JSON.parse(output) as EngineMeasured;
  if (told.faults > 0) throw new Error('A transfer did not end well.');
  return told;
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

async function runYardstick(source: Latency, destination: Latency, user: string, url: string): Promise<number> {
  const ports = ['--srcPort', `${source.port}`, '--dstPort', `${destination.port}`, '--db', url, '--conns', '4'];
  const told = await run(process.execPath, [YARDSTICK, ...ports, '--srcUser', USER, '--dstUser', user]);
  return (JSON.parse(told.toString().trim().split('\n').at(-1) ?? '') as { seconds: number }).seconds * 1000;
}

type Peer = { readonly port: number; readonly certificate?: string };

async function runMbsync(program: string, source: Peer, destination: Peer, user: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'mbsync-'));
  await writeFile(
    join(folder, 'rc'),
    `${store('from', source, USER)}${store('to', destination, user)}Channel all\nFar :from:\nNear :to:\nPatterns *\nCreate Near\nSync Pull\nExpunge None\nCopyArrivalDate yes\nSyncState ${folder}/\n`,
  );
  await run(program, ['-q', '-c', join(folder, 'rc'), '-a']);
  await rm(folder, { recursive: true, force: true });
}

function store(name: string, { port, certificate }: Peer, user: string): string {
  const tls = certificate === undefined ? 'SSLType None' : `SSLType STARTTLS\nCertificateFile ${certificate}`;
  return `IMAPAccount ${name}\nHost 127.0.0.1\nPort ${port}\nUser ${user}\nPass ${PASSWORD}\n${tls}\nAuthMechs LOGIN\n\nIMAPStore ${name}\nAccount ${name}\n\n`;
}

/** Those of a server that nobody vouches for, which both peers are told to believe. */
async function certificateFiles(): Promise<AsyncDisposable & { readonly certificate: string; readonly key: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'certificate-'));
  const files = { certificate: join(folder, 'cert'), key: join(folder, 'key') };
  const made = await selfSigned('127.0.0.1');
  // Dovecot reads them as another user.
  await chmod(folder, 0o755);
  await writeFile(files.key, made.key);
  await writeFile(files.certificate, made.cert);
  return { ...files, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

function rate({ count }: Corpus, ms: number): string {
  return Math.round((count * 1000) / ms).toLocaleString('en-US');
}
