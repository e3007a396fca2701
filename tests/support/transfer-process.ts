import type { Step } from '../../src/server/mail/copy/run/mail-copy.ts';
import { SUBSCRIBER, mailUntil, openWorld, order } from './transfer-world.ts';

/**
 * A process that can be killed: starts or resumes the test's transfer, and exits once it has ended. Its last line says
 * how. Argument, as JSON: the database's address, the settings, and when it kills or freezes itself.
 */
export type TransferProcess = {
  readonly database: { readonly url: string } | { readonly folder: string };
  readonly environment: Readonly<Record<string, string>>;
  /** At the `count`th occurrence of a step or, without one, at the `count`th step of any kind. */
  readonly killAt?: { readonly step?: Step; readonly count: number };
  /** SIGKILL by default. */
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
// The time for which it is frozen counts as well, and the machine may be busy.
const end = await mailUntil(world.transfers, id, undefined, 240_000);
process.stdout.write(`${JSON.stringify({ end, seen })}\n`);
