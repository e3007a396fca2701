import * as v from 'valibot';
import { Email } from './email.ts';
import { TRANSFER_ID } from './transfer-status.ts';

export const TransferId = v.pipe(v.string(), v.regex(TRANSFER_ID, 'Please, enter a valid transfer ID.'));
export type TransferId = v.InferOutput<typeof TransferId>;

/** The same, sent by hand or from a letter's link: some programs and people write it in capitals. */
export const GivenTransferId = v.pipe(
  v.string(),
  v.regex(/^[0-9a-fA-F]{32}$/, 'Please, enter a valid transfer ID.'),
  v.toLowerCase(),
);

/** A phone number on the wire: `+1` and ten digits (E.164). */
export const UsPhone = v.pipe(v.string(), v.regex(/^\+1\d{10}$/, 'Please, provide a valid phone number.'));

/** Where notifications go: an email address or, on the primary move, a US phone number. */
export const NotificationContact = v.union([UsPhone, Email]);
