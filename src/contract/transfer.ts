import * as v from 'valibot';
import { isEmail } from './email.ts';

/** Transfer, token and status-hash IDs: 128 random bits as 32 lower-case hex digits. */
const ID = /^[0-9a-f]{32}$/;
export const TRANSFER_ID_LENGTH = 32;

export const TransferId = v.pipe(v.string(), v.regex(ID, 'Please, enter a valid transfer ID.'));
export type TransferId = v.InferOutput<typeof TransferId>;

/** The status modal's looser rule: exactly 32 alphanumeric characters. */
export function looksLikeTransferId(text: string): boolean {
  return /^[0-9a-zA-Z]{32}$/.test(text);
}

/** A phone number as it travels: `+1` and ten digits (E.164). */
export const UsPhone = v.pipe(v.string(), v.regex(/^\+1\d{10}$/, 'Please, provide a valid phone number.'));

/** Where the notification goes: an address, or a US phone number on the primary move. */
export const NotificationContact = v.union([
  UsPhone,
  v.pipe(v.string(), v.trim(), v.toLowerCase(), v.check(isEmail, 'Please, enter a valid email address.')),
]);

/** The status values that the server answers with, of those that `portal.md` §4 lists. */
export const STATUS_VALUES = ['started', 'inprogress', 'completed', 'review', 'authentication_error', 'error'] as const;
export type StatusValue = (typeof STATUS_VALUES)[number];

/** How a status is shown: `portal.md` §4, "Transfer status values". */
export type ShownStatus = 'running' | 'success' | 'failed';
export function shownStatusOf(status: string): ShownStatus {
  switch (status.toLowerCase()) {
    case 'completed':
    case 'success':
      return 'success';
    case 'review':
    case 'authentication_error':
      return 'failed';
    default:
      return 'running';
  }
}
