import { peakMemory } from '../peak-memory.ts';
import { writePst } from '../../../src/server/export/pst/write-pst.ts';
import { lettersOf } from './pst-corpus.ts';

/** Octets of mail and of files, and milliseconds; `rss` is the peak memory of the process, in octets. */
export type Measured = {
  readonly paths: readonly string[];
  readonly mail: number;
  readonly octets: number;
  readonly ms: number;
  readonly rss: number;
};

/** Writes a large mailbox, and prints the time it took and its peak memory, as JSON. */
const [directory = '', count = '', octets] = process.argv.slice(2);
const began = performance.now();
const paths: string[] = [];
let [mail, written] = [0, 0];
async function* items() {
  for await (const item of lettersOf(Number(count), octets === undefined ? undefined : Number(octets))) {
    if ('size' in item) mail += item.size;
    yield item;
  }
}
const folders = [{ path: ['Inbox'], role: 'inbox' as const }];
for await (const { path, size } of writePst({ directory, name: 'Mail', id: 'bench', folders, items: items() })) {
  paths.push(path);
  written += size;
}
const measured: Measured = {
  paths,
  mail,
  octets: written,
  ms: performance.now() - began,
  rss: peakMemory(),
};
process.stdout.write(`${JSON.stringify(measured)}\n`);
