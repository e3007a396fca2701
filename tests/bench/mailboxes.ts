import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { inPieces, newMessage, writerOf } from '../support/imap-session.ts';
import { openMailClient } from '../support/mail-client.ts';
import { run } from '../support/run.ts';

/** Mailboxes and peers that the project is measured with. */
export const SHARED_BENCH = resolve('../shared/bench');

export type Corpus = {
  readonly name: string;
  readonly mailboxes: number;
  readonly sizes: readonly number[];
  readonly count: number;
  /** Which of `make-corpus.mjs` of {@link SHARED_BENCH} stands in its place, where that is there. */
  readonly kind?: 'A' | 'B' | 'C';
};

/** As a person's mail: most small, a few large; 64 kB on average. */
export const REALISTIC: Corpus = {
  name: '2,000 realistic messages',
  mailboxes: 12,
  sizes: [2_000, 3_000, 5_000, 8_000, 15_000, 40_000, 90_000, 349_000],
  count: 2_000,
  kind: 'A',
};
export const SMALL: Corpus = {
  name: '20,000 small messages',
  mailboxes: 20,
  sizes: [2_000, 3_000, 4_000, 6_000],
  count: 20_000,
  kind: 'B',
};
export const HUGE: Corpus = { name: '500,000 messages in one folder', mailboxes: 1, sizes: [600], count: 500_000 };
export const LARGE: Corpus = {
  name: '60 of 10 to 25 MB',
  mailboxes: 3,
  sizes: [10e6, 15e6, 20e6, 25e6],
  count: 60,
  kind: 'C',
};

/** So many go by one MULTIAPPEND: Dovecot reads all of the mailbox's index for each APPEND to one that is not selected. */
const TOGETHER = 1000;

type Account = { readonly port: number; readonly user: string; readonly password: string };

/** Fills an account of a test's Dovecot; each message differs from all others. */
export async function fillAccount(account: Account, corpus: Corpus): Promise<void> {
  if (corpus.kind !== undefined && existsSync(SHARED_BENCH)) return fillShared(account, corpus.kind);
  const { mailboxes, sizes, count } = corpus;
  await using client = await openMailClient(account.port, account.user, account.password);
  await using writer = await writerOf(account);
  const longest = Math.max(...sizes);
  const text = randomBytes(Math.ceil(longest * 0.75) + 1000)
    .toString('base64')
    .replaceAll(/.{76}/g, '$&\r\n');
  for (let box = 0; box < mailboxes; box += 1) {
    const path = box === 0 ? 'INBOX' : `Box ${box}`;
    if (box > 0) await client.create(path);
    const from = Math.round((count * box) / mailboxes);
    const until = Math.round((count * (box + 1)) / mailboxes);
    for (let first = from; first < until; first += TOGETHER) {
      const messages = Array.from({ length: Math.min(TOGETHER, until - first) }, (_, at) => {
        const number = first + at;
        const size = sizes[number % sizes.length] ?? 0;
        const header = `From: a@cable.example\r\nSubject: ${number}\r\nMessage-ID: <${number}@bench>\r\n\r\n`;
        return newMessage(`${header}${text.slice(0, size - header.length)}\r\n`, { flags: ['\\Seen'] });
      });
      const appended = await writer.append(path, inPieces(messages), { together: true }).outcome;
      if (appended.some(({ kind }) => kind !== 'stored')) throw new Error('The account was not filled.');
    }
  }
}

/** Made once for all runs: it is the same each time. The password must be that of {@link SHARED_BENCH}. */
async function fillShared({ port, user }: Account, kind: NonNullable<Corpus['kind']>): Promise<void> {
  const folder = join(tmpdir(), 'bench-corpus');
  if (!existsSync(join(folder, `${kind}.jsonl`))) await runShared('make-corpus.mjs', ['--kind', kind, '--out', folder]);
  const place = ['--dir', folder, '--port', `${port}`, '--user', user];
  await runShared('load-corpus.mjs', ['--corpus', kind, ...place, '--multi', '100']);
}

async function runShared(script: string, parameters: readonly string[]): Promise<void> {
  await run(process.execPath, [join(SHARED_BENCH, script), ...parameters]);
}
