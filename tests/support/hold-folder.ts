import { once } from 'node:events';
import { holdDataFolder } from '../../src/server/store/data-folder.ts';

/** A process that holds the given data folder until its input ends. It prints whether it could, or why not. */
const said = await holdDataFolder(process.argv[2] ?? '').then(
  () => 'held',
  (error: unknown) => (error instanceof Error ? error.message : String(error)),
);
process.stdout.write(`${process.pid} ${said}\n`);
if (said === 'held') await once(process.stdin.resume(), 'end');
