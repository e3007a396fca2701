import { addresses, fieldOf, headerFields, readable, type HeaderField } from '../mime/header-fields.ts';
import { safeName } from '../names/safe-name.ts';

/**
 * In UTF-16 units. With date and number, a name has at most 105 units and 250 octets, below every file system's 255.
 */
const SENDER_LENGTH = 24;
const SUBJECT_LENGTH = 48;
/** How much of a field is examined for its text, in characters. */
const FIELD_LENGTH = 2_000;

/**
 * `2025-03-05 14.22 Anna Smith - Lunch tomorrow (42).eml`: date in UTC, sender, subject. The number distinguishes the
 * messages of one folder, whatever their text.
 */
export function messageName(message: {
  readonly header: Buffer;
  readonly internalDate: Date;
  readonly number: number;
}): string {
  const header = headerOf(message.header);
  const sender = safeName(senderOf(header), SENDER_LENGTH) || 'Unknown sender';
  const subject = safeName(readable(fieldOf(header, 'subject')), SUBJECT_LENGTH) || 'No subject';
  const date = message.internalDate.toISOString().slice(0, 16).replace('T', ' ').replace(':', '.');
  return `${date} ${sender} - ${subject} (${message.number}).eml`;
}

/** @param start the beginning of a message, of bounded length */
function headerOf(start: Buffer): HeaderField[] {
  const end = /\r?\n\r?\n/.exec(start.toString('latin1'))?.index ?? start.length;
  return headerFields(start.subarray(0, end)).map(({ name, value }) => ({ name, value: value.slice(0, FIELD_LENGTH) }));
}

function senderOf(header: readonly HeaderField[]): string {
  const [first] = addresses(header, 'from');
  return first === undefined ? fieldOf(header, 'from') : first.name || first.email;
}

/** The address in the `From` field, for an mbox `From_` line; `MAILER-DAEMON` if none is a single word. */
export function senderAddress(start: Buffer): string {
  const [first] = addresses(headerOf(start), 'from');
  const address = first?.email ?? '';
  return /^[\x21-\x7e]{1,254}$/.test(address) && address.includes('@') ? address : 'MAILER-DAEMON';
}
