import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installed } from '../support/installed.ts';
import { measureProgram, measureWriting } from '../support/pst/pst-bench.ts';

const MESSAGES = Number(process.env['PST_BENCH_MESSAGES'] ?? 10_000);

/** A mailbox into a PST file, beside `readpst` reading the same file. Prints MB/s of mail and memory. */
export async function benchPst(say: (line: string) => void): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'pst-bench-'));
  try {
    for (const [kind, octets] of [
      ['as in a mailbox', undefined],
      ['of some lines', 0],
    ] as const) {
      const into = await mkdtemp(join(directory, 'one-'));
      const { paths, mail, octets: size, ms, rss } = await measureWriting(into, MESSAGES, octets);
      const line = (what: string, took: number, memory: number) =>
        say(
          `pst: ${what} ${MESSAGES} messages ${kind}, ${(mail / 1e6).toFixed(0)} MB of mail, ${(size / 1e6).toFixed(0)} MB of PST: ${(mail / 1e3 / took).toFixed(1)} MB/s, ${((MESSAGES * 1000) / took).toFixed(0)} a second, at most ${(memory / 1e6).toFixed(0)} MB of memory`,
        );
      line('writing', ms, rss);
      if (installed('readpst') === null) say('pst: readpst is not installed');
      else {
        const out = await mkdtemp(join(directory, 'read-'));
        const read = await measureProgram('readpst', ['-e', '-D', '-q', '-j', '0', '-o', out, paths[0] ?? '']);
        line('readpst reading', read.ms, read.rss);
        await rm(out, { recursive: true });
      }
      await rm(into, { recursive: true });
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
