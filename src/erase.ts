import * as v from 'valibot';
import { Email } from './contract/email.ts';
import { EXIT, exitWith } from './exit.ts';
import { exitFor } from './operator-faults.ts';
import { loadEnvFile, settingsFrom } from './read-settings.ts';
import { eraseFromServer } from './server/erase.ts';

/** `npm run erase -- address`: erases all that is known of a subscriber, at their request. */
const [address = '', ...others] = process.argv.slice(2);
const subscriber = v.safeParse(Email, address);
if (!subscriber.success || others.length > 0)
  exitWith(
    'Name the one address whose data are to be erased. Example: npm run erase -- ann@sanbruno.example',
    EXIT.usage,
  );

try {
  loadEnvFile();
  const count = await eraseFromServer(settingsFrom(process.env), subscriber.output);
  process.stdout.write(`Erased. Transfers from, to or about this address: ${count}\n`);
} catch (error) {
  exitFor(error);
}
