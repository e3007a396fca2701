import type { Contact } from '../../contract/contact.ts';
import { unheldProperties } from './vcard/read-vcard.ts';

/** What a destination without vCards has no place for. */
export function unheldNote(contact: Contact): string[] {
  const names = unheldProperties(contact.vcard);
  return names.length === 0 ? [] : [`has no place there: ${names.join(', ')}`];
}
