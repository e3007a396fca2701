import { MACHINE_CLOCK, type Clock } from '../../src/server/clock.ts';

/** The engine's pauses between two tries, in ms. */
const PAUSES = new Set([1000, 2000, 4000]);

/** The machine's clock, except that the engine's pauses take no time. */
export const HASTY_CLOCK: Clock = {
  ...MACHINE_CLOCK,
  after: (milliseconds, run) => MACHINE_CLOCK.after(PAUSES.has(milliseconds) ? 0 : milliseconds, run),
};
