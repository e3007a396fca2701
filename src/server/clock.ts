/** Time from outside, so that a simulation can own it. */
export type Clock = {
  /** Milliseconds since the epoch; may jump. */
  now(): number;
  /** Milliseconds since some moment; never jumps, never goes back. */
  elapsed(): number;
  /** Runs something once, so many milliseconds later. @returns what calls it off */
  after(milliseconds: number, run: () => void): () => void;
};

/** The machine's own time. */
export const MACHINE_CLOCK: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after: (milliseconds, run) => {
    const timer = setTimeout(run, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** Waits; ends early, without an error, when the signal aborts. */
export async function pause(clock: Clock, milliseconds: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const callOff = clock.after(milliseconds, resolve);
  const aborted = () => resolve();
  signal?.addEventListener('abort', aborted, { once: true });
  await promise;
  signal?.removeEventListener('abort', aborted);
  callOff();
}
