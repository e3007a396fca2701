import { MACHINE_CLOCK } from '../../src/server/mail/imap/clock.ts';
import type { Clock } from '../../src/server/mail/imap/wire.ts';

/** What the engine waits between two tries. */
const PAUSES = new Set([1000, 2000, 4000]);

/** The machine's, but the pauses of the engine take no time. */
export const HASTY_CLOCK: Clock = {
  ...MACHINE_CLOCK,
  after: (milliseconds, run) => MACHINE_CLOCK.after(PAUSES.has(milliseconds) ? 0 : milliseconds, run),
};
