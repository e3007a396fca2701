import { peakMemory } from './peak-memory.ts';
import { mailUntil, openWorld, order } from './transfer-world.ts';

/** Milliseconds and octets; `rss` is the most that the process had. */
export type Measured = {
  readonly done: number;
  readonly bytes: number;
  readonly files: readonly number[];
  readonly ms: number;
  readonly rss: number;
};

/** Exports the subscriber's mail on a PostgreSQL and tells, as JSON, how long it took and the most memory it had. */
const [url = '', dataDir = '', imap = '', format = ''] = process.argv.slice(2);
await using world = await openWorld({ url }, { LEGACY_IMAP_URL: imap, DATA_DIR: dataDir });
const began = performance.now();
const { id } = await world.transfers.start(
  order({
    destination: { email: 'me@example.com', provider: 'file_export' },
    emailFormat: format === 'mbox' ? 'mbox' : 'eml',
    contactsFormat: 'vcf',
  }),
);
const { done = 0, bytes = 0 } = await mailUntil(world.transfers, id, ['completed', 'error'], 3_600_000);
const files = (await world.transfers.status(id))?.exports?.map(({ size }) => size) ?? [];
const measured: Measured = {
  done,
  bytes,
  files,
  ms: performance.now() - began,
  rss: peakMemory(),
};
process.stdout.write(`${JSON.stringify(measured)}\n`);
