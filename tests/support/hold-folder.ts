import { once } from 'node:events';
import { holdDataFolder } from '../../src/server/store/data-folder.ts';

/** Holds the data folder that is named until its input ends, and says so; or says why not. */
const said = await holdDataFolder(process.argv[2] ?? '').then(
  () => 'held',
  (error: unknown) => (error instanceof Error ? error.message : String(error)),
);
process.stdout.write(`${process.pid} ${said}\n`);
if (said === 'held') await once(process.stdin.resume(), 'end');
