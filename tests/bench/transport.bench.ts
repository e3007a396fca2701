import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Appending, MailReader, MailWriter, NewMessage } from '../../src/server/mail/imap/streams.ts';
import { type Dovecot, DOVECOT, startDovecot } from '../support/dovecot.ts';
import { gathered, inPieces, newMessage, readerOf, writerOf } from '../support/imap-session.ts';
import { run } from '../support/run.ts';

const MESSAGES = 2000;
const CONNECTIONS = 4;
const GROUP = { messages: 100, octets: 4_000_000 };
/** As in a person's mail: most small, a few large; 64 kB on average. */
const SIZES = [2_000, 3_000, 5_000, 8_000, 15_000, 40_000, 90_000, 349_000];
/** The bare client of the same room as the project, which knows the happy path only. */
const YARDSTICK = resolve('../shared/bench/raw-grouped.mjs');
/** What the yardstick signs in with. */
const PASSWORD = 'pass';

/** The transport alone, without plan or ledger: fetch, sha256, append, and read everything back. */
export async function benchTransport(say: (line: string) => void): Promise<void> {
  if (DOVECOT === null) return say('transport: skipped, dovecot is not installed');
  await using source = await startDovecot({ password: PASSWORD });
  await using destination = await startDovecot({ password: PASSWORD });
  await fill(source);
  for (const compress of [false, true]) {
    const cpu = process.cpuUsage();
    const from = performance.now();
    const differ = await copy(source, destination, { user: `bench-${compress}`, compress });
    const seconds = (performance.now() - from) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    const each = ((user + system) / 1000 / MESSAGES).toFixed(2);
    const peak = Math.round(process.resourceUsage().maxRSS / 1000);
    say(
      `transport${compress ? ', offering to compress' : ''}: ${Math.round(MESSAGES / seconds)} messages/s, ${each} ms of CPU a message, ${differ} differ, ${peak} MB at most`,
    );
  }
  if (!existsSync(YARDSTICK)) return say('transport: the yardstick is not here');
  const ports = ['--srcPort', `${source.port}`, '--dstPort', `${destination.port}`, '--noledger'];
  const users = ['--srcUser', 'bench', '--dstUser', 'yardstick', '--conns', `${CONNECTIONS}`];
  const told = await run(process.execPath, [YARDSTICK, ...ports, ...users]);
  say(`transport: yardstick ${told.toString().trim()}`);
}

const account = ({ port }: Dovecot, user: string) => ({ port, user, password: PASSWORD });

async function fill(source: Dovecot): Promise<void> {
  await using writer = await writerOf(account(source, 'bench'));
  const text = randomBytes(300_000).toString('base64').replaceAll(/.{76}/g, '$&\r\n');
  const messages = Array.from({ length: MESSAGES }, (_, index) =>
    newMessage(`Subject: ${index}\r\n\r\n${text.slice(0, SIZES[index % SIZES.length])}\r\n`, { flags: ['\\Seen'] }),
  );
  const { outcome } = writer.append('INBOX', inPieces(messages), { together: true });
  await outcome;
}

/** @returns how many messages are not there, or not as they were sent. */
async function copy(
  source: Dovecot,
  destination: Dovecot,
  { user, compress }: { readonly user: string; readonly compress: boolean },
): Promise<number> {
  await using lister = await readerOf(account(source, 'bench'), { compress });
  const groups: number[][] = [];
  let octets = Infinity;
  for (const { uid, size } of (await gathered(lister.list('INBOX'))).flat()) {
    octets += size;
    if (octets > GROUP.octets || (groups.at(-1)?.length ?? 0) >= GROUP.messages) {
      groups.push([]);
      octets = size;
    }
    groups.at(-1)?.push(uid);
  }
  const sent = new Map<number, string>();
  const work = async () => {
    await using reader = await readerOf(account(source, 'bench'), { compress });
    await using writer = await writerOf(account(destination, user), { compress });
    await copyGroups(reader, writer, groups, sent);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  await using judge = await readerOf(account(destination, user), { compress });
  await judge.open('INBOX');
  let same = 0;
  for await (const { uid, octets } of judge.fetch('INBOX', [...sent.keys()]))
    if ((await digestOf(octets)) === sent.get(uid)) same++;
  return MESSAGES - same;
}

async function copyGroups(
  reader: MailReader,
  writer: MailWriter,
  groups: number[][],
  sent: Map<number, string>,
): Promise<void> {
  const settled: Promise<void>[] = [];
  const next = () => {
    const uids = groups.shift();
    return uids === undefined ? undefined : reader.fetch('INBOX', uids);
  };
  for (let group = next(); group !== undefined;) {
    // The next group is asked for before this one is read.
    const ahead = next();
    const digests: string[] = [];
    const { sent: gone, outcome } = writer.append('INBOX', hashed(group, digests), { together: true });
    await gone;
    settled.push(note(outcome, digests, sent));
    group = ahead;
  }
  await Promise.all(settled);
}

async function note(
  outcome: Appending['outcome'],
  digests: readonly string[],
  sent: Map<number, string>,
): Promise<void> {
  for (const [index, each] of (await outcome).entries())
    if (each.kind === 'stored' && each.uid !== undefined) sent.set(each.uid, digests[index] ?? '');
}

async function* hashed(messages: ReturnType<MailReader['fetch']>, digests: string[]): AsyncGenerator<NewMessage> {
  for await (const message of messages) {
    const hash = createHash('sha256');
    const { octets } = message;
    async function* passing() {
      for await (const chunk of octets) {
        hash.update(chunk);
        yield chunk;
      }
    }
    yield { ...message, octets: passing() };
    digests.push(hash.digest('hex'));
  }
}

async function digestOf(octets: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of octets) hash.update(chunk);
  return hash.digest('hex');
}
