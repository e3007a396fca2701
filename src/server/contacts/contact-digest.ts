import { createHash } from 'node:crypto';
import type { Contact } from './contact.ts';

/** Of what its owner may have changed: a photo by link may fail to come, and other details may change by themselves. */
export function digestOf({ photo: _photo, more: _more, vcard: _vcard, groups, ...contact }: Contact): string {
  // Servers list groups in any order.
  const known = { ...contact, groups: groups.toSorted() };
  return createHash('sha256').update(JSON.stringify(known)).digest('hex');
}
