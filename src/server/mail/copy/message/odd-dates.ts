import type { Clock } from '../../../clock.ts';
import type { Planned } from '../ledger/ledger.ts';
import { secondsOf } from './digest.ts';

/** Also of messages that have no date at all. */
export const EARLIEST_DATE = new Date(86_400_000);

/**
 * Some servers take no date in the first second of the epoch or before it, and none that is to come: they refuse it, or
 * put their own in its place without a word (Dovecot, Courier, Cyrus).
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
 * Whether the message may have been sent with another date.
 * @param date at the source, in seconds since the epoch, or `null` where that says none
 */
export function isUnsureDate(date: number | null, clock: Clock): boolean {
  if (date === null) return true;
  const sent = new Date(date * 1000);
  return acceptable(sent, clock) !== sent;
}
