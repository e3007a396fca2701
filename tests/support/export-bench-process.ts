import { mailUntil, openWorld, order } from './transfer-world.ts';

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
const { done, bytes } = await mailUntil(world.transfers, id, ['completed', 'error'], 3_600_000);
const files = (await world.transfers.status(id))?.exports?.map(({ size }) => size);
process.stdout.write(
  `${JSON.stringify({ done, bytes, files, ms: performance.now() - began, rss: process.resourceUsage().maxRSS * 1024 })}\n`,
);
