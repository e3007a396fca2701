import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Dovecot, DOVECOT, DOVECOT_PASSWORD, startDovecot } from '../support/dovecot.ts';
import { FRESH } from '../support/fresh-database.ts';
import { installed } from '../support/installed.ts';
import { openMailClient } from '../support/mail-client.ts';
import { differenceOf } from '../support/mail-comparison.ts';
import { mailUntil, NEW_ADDRESS, openWorld, order, SUBSCRIBER } from '../support/transfer-world.ts';
import { POSTGRESQL, startPostgres } from '../support/postgres.ts';
import { run } from '../support/run.ts';

const MESSAGES = 1000;
const MAILBOXES = 5;
const HOUR = 3_600_000;

/** Sizes as in a person's mail: most small, a few large; 42 KB on average. */
const SIZES = [2_000, 3_000, 5_000, 8_000, 15_000, 30_000, 60_000, 212_000];

/** Mailbox to mailbox, beside mbsync on the same pair of servers. Prints messages a second, and the ratio. */
export async function benchTransfer(say: (line: string) => void): Promise<void> {
  const mbsync = installed('mbsync');
  if (DOVECOT === null) return say('transfer: skipped, dovecot is not installed');
  await using source = await startDovecot();
  await using destination = await startDovecot();
  await fill(source);
  const peer = mbsync === null ? null : await timed(() => runMbsync(mbsync, source, destination));
  if (peer === null) say('transfer: mbsync is not installed, so there is no ratio');
  else say(`transfer: mbsync ${rate(peer)} messages/s`);
  for (const database of ['PGlite', 'PostgreSQL'] as const) {
    if (database === 'PostgreSQL' && POSTGRESQL === null) {
      say('transfer: PostgreSQL is not installed');
      continue;
    }
    await using postgres = database === 'PostgreSQL' ? await startPostgres() : null;
    await using world = await openWorld(postgres === null ? FRESH : { url: await postgres.create() }, {
      LEGACY_IMAP_URL: source.url,
      YAHOO_IMAP_URL: destination.url,
    });
    const email = `${database.toLowerCase()}-${NEW_ADDRESS}`;
    const own = await timed(async () => {
      const { id } = await world.transfers.start(
        order({ destination: { email, password: DOVECOT_PASSWORD, provider: 'yahoo' } }),
      );
      await mailUntil(world.transfers, id, ['completed'], HOUR);
    });
    const ratio = peer === null ? '' : `, ${(peer / own).toFixed(2)} times mbsync`;
    say(`transfer: on ${database} ${rate(own)} messages/s with ledger and final comparison${ratio}`);
    const { lost, duplicated, changed } = await differenceOf(
      { port: source.port, user: SUBSCRIBER, password: DOVECOT_PASSWORD },
      { port: destination.port, user: email, password: DOVECOT_PASSWORD },
    );
    say(`transfer: ${lost.length} lost, ${duplicated.length} duplicated, ${changed.length} changed`);
  }
}

async function fill(source: Dovecot): Promise<void> {
  await using mail = await openMailClient(source.port, SUBSCRIBER, DOVECOT_PASSWORD);
  for (let box = 0; box < MAILBOXES; box += 1) {
    if (box > 0) await mail.create(`Box ${box}`);
    const letters = Array.from({ length: MESSAGES / MAILBOXES }, (_, index) => {
      const size = SIZES[(index * 5 + box) % SIZES.length] ?? 0;
      const head = `From: a@cable.example\r\nTo: b@cable.example\r\nSubject: ${box}-${index}\r\nMessage-ID: <${box}.${index}@bench>\r\n\r\n`;
      const line = `${String(index).padStart(8, '0')} the quick brown fox jumps over the lazy dog, once more.\r\n`;
      return {
        bytes: Buffer.from(head + line.repeat(Math.ceil(size / line.length))),
        flags: ['\\Seen'],
        date: '17-Jul-2010 02:44:25 -0700',
      };
    });
    await mail.append(box === 0 ? 'INBOX' : `Box ${box}`, letters);
  }
}

async function runMbsync(program: string, source: Dovecot, destination: Dovecot): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'mbsync-'));
  await writeFile(
    join(folder, 'rc'),
    `${account('from', source.port, SUBSCRIBER)}${account('to', destination.port, 'mbsync@peer.example')}Channel all\nFar :from:\nNear :to:\nPatterns *\nCreate Near\nSync Pull\nExpunge None\nCopyArrivalDate yes\nSyncState ${folder}/\n`,
  );
  await run(program, ['-q', '-c', join(folder, 'rc'), '-a']);
  await rm(folder, { recursive: true, force: true });
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function rate(milliseconds: number): string {
  return ((MESSAGES * 1000) / milliseconds).toFixed(0);
}

function account(name: string, port: number, user: string): string {
  return `IMAPAccount ${name}\nHost 127.0.0.1\nPort ${port}\nUser ${user}\nPass ${DOVECOT_PASSWORD}\nSSLType None\nAuthMechs LOGIN\n\nIMAPStore ${name}\nAccount ${name}\n\n`;
}
