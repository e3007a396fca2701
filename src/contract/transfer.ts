import * as v from 'valibot';
import { Email } from './email.ts';
import { TRANSFER_ID } from './transfer-status.ts';

export const TransferId = v.pipe(v.string(), v.regex(TRANSFER_ID, 'Please, enter a valid transfer ID.'));
export type TransferId = v.InferOutput<typeof TransferId>;

/** A phone number as it travels: `+1` and ten digits (E.164). */
export const UsPhone = v.pipe(v.string(), v.regex(/^\+1\d{10}$/, 'Please, provide a valid phone number.'));

/** Where the notification goes: an address, or a US phone number on the primary move. */
export const NotificationContact = v.union([UsPhone, Email]);
