import { setImmediate as turn } from 'node:timers/promises';
import type { Contact } from '../contact.ts';
import type { VcardVersion } from './vcard-lines.ts';
import { writeVcard } from './vcard-writer.ts';

/** The version that most programs import. */
const VCF_VERSION: VcardVersion = '3.0';

/** All contacts in one `.vcf` file, a card at a time: UTF-8, CRLF, photos inside. */
export async function* contactsVcf(
  contacts: Iterable<Contact> | AsyncIterable<Contact>,
  version: VcardVersion = VCF_VERSION,
): AsyncIterable<string> {
  for await (const contact of contacts) {
    yield writeVcard(contact, version);
    await turn();
  }
}
