import * as v from 'valibot';
import { Email } from './contract/email.ts';
import { SettingsError } from './contract/settings.ts';
import { loadEnvFile, settingsFrom } from './read-settings.ts';
import { eraseFromServer } from './server/erase.ts';
import { DataFolderError } from './server/store/data-folder.ts';
import { DatabaseUnavailable, EmbeddedUnusable } from './server/store/database-faults.ts';

/** `npm run erase -- address`: erases all that is known of a subscriber, at their request. */
const [address = '', ...others] = process.argv.slice(2);
const subscriber = v.safeParse(Email, address);
if (!subscriber.success || others.length > 0)
  stop('Name the one address whose data are to be erased. Example: npm run erase -- ann@sanbruno.example', 64);

try {
  loadEnvFile();
  const count = await eraseFromServer(settingsFrom(process.env), subscriber.output);
  process.stdout.write(`Erased. Transfers from, to or about this address: ${count}\n`);
} catch (error) {
  const forOperator = [SettingsError, DataFolderError, DatabaseUnavailable, EmbeddedUnusable];
  if (error instanceof Error && forOperator.some((kind) => error instanceof kind)) stop(error.message, 78);
  throw error;
}

function stop(message: string, code: number): never {
  process.stderr.write(`${message}\n`);
  process.exit(code);
}
