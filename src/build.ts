import { buildPortal, PortalUnbuilt } from './build-portal.ts';
import { SettingsError } from './contract/settings.ts';
import { loadEnvFile } from './read-settings.ts';

/** `npm run build`: builds the portal for the settings that are there, for a start that may not write beside the program. */
try {
  loadEnvFile();
  process.stdout.write(`The portal is in ${await buildPortal(process.env)}\n`);
} catch (error) {
  if (!(error instanceof SettingsError || error instanceof PortalUnbuilt)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 78;
}
