import type { Step } from '../../src/server/mail/copy/mail-copy.ts';
import { SUBSCRIBER, mailUntil, openWorld, order } from './transfer-world.ts';

/**
 * A process that can be killed: starts the test's transfer, or goes on with it, and ends when it has ended. Its last
 * line tells how. Arguments, as JSON: where the database is, the settings, and at which moment it kills or stops itself.
 */
export type TransferProcess = {
  readonly database: { readonly url: string } | { readonly folder: string };
  readonly environment: Readonly<Record<string, string>>;
  /** A step and its how many times, or the how many steps of any kind. */
  readonly killAt?: { readonly step?: Step; readonly count: number };
  /** SIGKILL unless said otherwise. */
  readonly by?: 'SIGSTOP';
};

const { database, environment, killAt, by = 'SIGKILL' } = JSON.parse(process.argv[2] ?? '') as TransferProcess;
const seen: Partial<Record<Step | 'any', number>> = {};
await using world = await openWorld(database, environment, {
  onStep: (step) => {
    for (const each of [step, 'any'] as const) seen[each] = (seen[each] ?? 0) + 1;
    if (killAt !== undefined && (killAt.step ?? step) === step && seen[killAt.step ?? 'any'] === killAt.count)
      process.kill(process.pid, by);
  },
});
const [unfinished] = await world.database.query<{ id: string }>('select id from transfers where source_email = $1', [
  SUBSCRIBER,
]);
const id = unfinished?.id ?? (await world.transfers.start(order())).id;
process.stdout.write('working\n');
// What it stands still for counts as well, on a machine that is busy.
const end = await mailUntil(world.transfers, id, undefined, 240_000);
process.stdout.write(`${JSON.stringify({ end, seen })}\n`);
