import { buildPortal } from './build-portal.ts';
import { exitFor } from './operator-faults.ts';
import { loadEnvFile } from './read-settings.ts';

/** `npm run build`: builds the portal for the settings that are there, for a start that may not write beside the program. */
try {
  loadEnvFile();
  process.stdout.write(`The portal is in ${await buildPortal(process.env)}\n`);
} catch (error) {
  exitFor(error);
}
