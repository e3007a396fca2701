import { readSettings } from '../../src/contract/settings.ts';
import { openContactReader, openContactWriter } from '../../src/server/contacts/open-contacts.ts';
import { copyInto } from './contacts-copy.ts';
import { passwordOf } from './radicale.ts';

/** A process that copies contacts and prints a line for each step, so that a test can kill it. Arguments: URL, source, destination. */
const [url = '', from = '', to = ''] = process.argv.slice(2);
const settings = readSettings({ SANDBOX: 'on', LEGACY_CARDDAV_URL: `${url}{email}/`, YAHOO_CONTACTS_URL: url });
const accessTo = (email: string) => ({ settings, credentials: { email, password: passwordOf(email) } });
await copyInto({
  reader: openContactReader(accessTo(from)),
  writer: openContactWriter('yahoo', accessTo(to)),
  signal: new AbortController().signal,
  onProgress: ({ done }) => console.log(done),
});
