import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { DOVECOT, DOVECOT_PASSWORD, startDovecot, type Dovecot } from '../support/dovecot.ts';
import type { Measured } from '../support/export-bench-process.ts';
import { openMailClient } from '../support/mail-client.ts';
import { POSTGRESQL, startPostgres } from '../support/postgres.ts';
import { startFlags } from '../support/start-command.ts';
import { settle } from './settle.ts';
import { SUBSCRIBER } from '../support/transfer-world.ts';

/** 5000 is the mailbox of 5 GB that the memory figure is promised for. */
const MEGABYTES = Number(process.env['EXPORT_BENCH_MB'] ?? 300);
const FORMATS = (process.env['EXPORT_BENCH_FORMATS'] ?? 'eml,mbox').split(',');
const MAILBOXES = 5;
const PROCESS = join(import.meta.dirname, '../support/export-bench-process.ts');
/** Sizes as in a person's mail: most small, a few with attachments; 75 KB on average. */
const SIZES = [2_000, 3_000, 5_000, 8_000, 15_000, 30_000, 60_000, 120_000, 430_000];
/** Larger ones are so because of what is attached to them. */
const ATTACHED_FROM = 20_000;
const TEXT = 4_000;
/** In megabytes: some memory must be left for the servers. */
const TOUCHED_AT_MOST = 14_000;
const WORDS = Array.from({ length: 5_000 }, () =>
  randomBytes(4)
    .toString('hex')
    .slice(0, 2 + Math.floor(Math.random() * 6)),
);

/** A mailbox into files, beside reading the same mailbox raw over one connection. Prints MB/s, the ratio, and memory. */
export async function benchExport(say: (line: string) => void): Promise<void> {
  if (DOVECOT === null || POSTGRESQL === null) return say('export: skipped, dovecot or PostgreSQL is not installed');
  await using source = await startDovecot();
  await using postgres = await startPostgres();
  const folder = await mkdtemp(join(tmpdir(), 'export-bench-'));
  try {
    // Each message lies in memory as the server has it, and is written twice.
    await settle(Math.min(4 * MEGABYTES, TOUCHED_AT_MOST));
    await fill(source);
    const began = performance.now();
    const octets = await readRaw(source.port);
    const raw = (performance.now() - began) / 1000;
    say(`export: reading ${(octets / 1e6).toFixed(0)} MB raw: ${(octets / 1e6 / raw).toFixed(0)} MB/s`);
    for (const format of FORMATS) {
      await settle(1);
      const child = spawn(
        process.execPath,
        [...startFlags(), PROCESS, await postgres.create(), join(folder, format), source.url, format],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      );
      const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
      const { done, bytes, files, ms, rss } = JSON.parse(output) as Measured;
      const speed = bytes / 1e3 / ms;
      const size = files.reduce((sum, each) => sum + each, 0);
      say(
        `export: ${format} ${done} messages, ${(bytes / 1e6).toFixed(0)} MB into ${files.length} files of ${(size / 1e6).toFixed(0)} MB: ${speed.toFixed(0)} MB/s, ${(speed / (octets / 1e6 / raw)).toFixed(2)} of raw, at most ${(rss / 1e6).toFixed(0)} MB of memory`,
      );
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function fill(source: Dovecot): Promise<void> {
  await using mail = await openMailClient(source.port, SUBSCRIBER, DOVECOT_PASSWORD);
  // Base64 of noise is what attachments are; a slice of it from anywhere is another one.
  const noise = inLines(randomBytes(3_000_000).toString('base64'));
  const average = SIZES.reduce((sum, size) => sum + size, 0) / SIZES.length;
  const count = Math.round((MEGABYTES * 1e6) / average / MAILBOXES);
  for (let box = 0; box < MAILBOXES; box += 1) {
    if (box > 0) await mail.create(`Box ${box}`);
    for (let number = 0; number < count; number += 1) {
      const size = SIZES[number % SIZES.length] ?? 0;
      const attached = size > ATTACHED_FROM ? size - TEXT : 0;
      const start = (number * 78 * 131) % (noise.length - attached);
      const bytes = letter(`${box}.${number}`, words(size - attached), noise.slice(start, start + attached));
      await mail.append(box === 0 ? 'INBOX' : `Box ${box}`, [
        { bytes, flags: ['\\Seen'], date: '17-Jul-2010 02:44:25 -0700' },
      ]);
    }
  }
}

function inLines(text: string): string {
  return text.replaceAll(/(.{76})/g, '$1\r\n');
}

function words(length: number): string {
  const all = Array.from({ length: Math.ceil(length / 6) }, () => WORDS[Math.floor(Math.random() * WORDS.length)]);
  return inLines(all.join(' ')).slice(0, length);
}

function letter(name: string, text: string, attached: string): Buffer {
  const head = `From: a@cable.example\r\nTo: b@cable.example\r\nSubject: ${name}\r\nMessage-ID: <${name}@bench>\r\nMIME-Version: 1.0\r\n`;
  const whole =
    attached === ''
      ? [head, '\r\n', text]
      : [
          head,
          'Content-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\n',
          text,
          '\r\n--b\r\nContent-Type: image/jpeg; name="photo.jpg"\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename="photo.jpg"\r\n\r\n',
          attached,
          '\r\n--b--',
        ];
  return Buffer.from(`${whole.join('')}\r\n`);
}

/** All octets of all messages, thrown away as they come. */
async function readRaw(port: number): Promise<number> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  let octets = 0;
  let tags = 0;
  const command = async (line: string) => {
    tags += 1;
    const tag = `r${tags}`;
    const end = Promise.withResolvers<void>();
    const take = (chunk: Buffer) => {
      octets += chunk.length;
      if (
        chunk.subarray(-200).toString('latin1').includes(`\r\n${tag} OK`) ||
        chunk.toString('latin1', 0, 20).startsWith(`${tag} OK`)
      )
        end.resolve();
    };
    socket.on('data', take);
    socket.write(`${tag} ${line}\r\n`);
    await end.promise;
    socket.off('data', take);
  };
  await command(`LOGIN "${SUBSCRIBER}" "${DOVECOT_PASSWORD}"`);
  for (let box = 0; box < MAILBOXES; box += 1) {
    await command(`EXAMINE "${box === 0 ? 'INBOX' : `Box ${box}`}"`);
    await command('UID FETCH 1:* (UID FLAGS INTERNALDATE BODY.PEEK[])');
  }
  socket.destroy();
  return octets;
}
