import { openWorld } from '../support/transfer-world.ts';

/** A worker that works until it is killed. */
const { url, environment } = JSON.parse(process.argv[2] ?? '') as FleetWorker;
export type FleetWorker = { readonly url: string; readonly environment: Readonly<Record<string, string>> };

await openWorld({ url }, environment);
process.stdout.write('ready\n');
await new Promise(() => setInterval(() => {}, 60_000));
