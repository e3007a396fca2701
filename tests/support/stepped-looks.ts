import type { Clock } from '../../src/server/clock.ts';

/** A clock for what looks again and again: it looks when `next` is called, which resolves once it has. */
export function steppedLooks(): { readonly after: Clock['after']; readonly next: () => Promise<void> } {
  let look: (() => void) | undefined;
  let coming = Promise.withResolvers<void>();
  return {
    after: (_, run) => {
      look = run;
      coming.resolve();
      return () => {};
    },
    next: async () => {
      coming = Promise.withResolvers();
      look?.();
      await coming.promise;
    },
  };
}
