import type { Clock } from '../../../clock.ts';
import type { Planned } from '../ledger/ledger.ts';
import { secondsOf } from './digest.ts';

/** The earliest date that is sent. Also for messages that have no date at all. */
export const EARLIEST_DATE = new Date(86_400_000);

/**
 * Some servers accept no date in the first second of the epoch or before it, and none in the future: they refuse it, or
 * silently replace it by their own (Dovecot, Courier, Cyrus).
 */
function acceptable(date: Date, clock: Clock): Date {
  if (date < EARLIEST_DATE) return EARLIEST_DATE;
  const now = clock.now();
  return date.getTime() > now ? new Date(now) : date;
}

/**
 * The message with a date that no server refuses.
 * @param date that it was sent with
 * @returns `null` when no server refuses that one either
 */
export function redated(message: Planned, date: Date, clock: Clock): Planned | null {
  const other = acceptable(date, clock);
  return other === date ? null : { ...message, date: secondsOf(other), isRedated: true };
}

/**
 * Whether servers may refuse or replace this date, so that the message may have another one.
 * @param date at the source, in seconds since the epoch, or `null` if there is none
 */
export function isUnsureDate(date: number | null, clock: Clock): boolean {
  if (date === null) return true;
  const sent = new Date(date * 1000);
  return acceptable(sent, clock) !== sent;
}
