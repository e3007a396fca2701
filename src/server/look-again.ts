import type { Clock } from './clock.ts';

const LOOK_EVERY_MS = 10 * 60_000;

/** Looks every ten minutes until it is disposed of. While the database is away, there is nothing to see. */
export function lookAgain(clock: Pick<Clock, 'after'>, look: () => Promise<void>): AsyncDisposable {
  let isOver = false;
  let callOff: (() => void) | undefined;
  let looking: Promise<void> = Promise.resolve();
  const lookOnce = async () => {
    await look().catch(() => {});
    next();
  };
  const next = () => {
    if (isOver) return;
    callOff = clock.after(LOOK_EVERY_MS, () => {
      looking = lookOnce();
    });
  };
  next();
  return {
    [Symbol.asyncDispose]: async () => {
      isOver = true;
      callOff?.();
      await looking;
    },
  };
}
