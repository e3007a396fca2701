import type { Clock } from './wire.ts';

/** The machine's own time. */
export const MACHINE_CLOCK: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after: (milliseconds, run) => {
    const timer = setTimeout(run, milliseconds);
    return () => clearTimeout(timer);
  },
};
