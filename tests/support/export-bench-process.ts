import { setTimeout as wait } from 'node:timers/promises';
import { peakMemory } from './peak-memory.ts';
import { mailUntil, openWorld, order } from './transfer-world.ts';

/** Milliseconds and octets; `rss` is the peak memory of the process. */
export type Measured = {
  readonly done: number;
  readonly bytes: number;
  readonly files: readonly number[];
  readonly ms: number;
  readonly rss: number;
};

/** Polling costs something too, so it is rare and cheap. */
const ASKED_EVERY_MS = 50;

/** Exports the subscriber's mail, with a PostgreSQL, and prints the time it took and its peak memory, as JSON. */
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
// Polling the whole status took 7 % of the time.
const OPEN = "select 1 from operations where transfer_id = $1 and operation = 'emailmigration' and finished is null";
while ((await world.database.query(OPEN, [id])).length > 0) await wait(ASKED_EVERY_MS);
const ms = performance.now() - began;
const { done = 0, bytes = 0 } = await mailUntil(world.transfers, id, ['completed', 'error']);
const files = (await world.transfers.status(id))?.exports?.map(({ size }) => size) ?? [];
const measured: Measured = {
  done,
  bytes,
  files,
  ms,
  rss: peakMemory(),
};
process.stdout.write(`${JSON.stringify(measured)}\n`);
