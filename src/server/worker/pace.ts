/** The fixed cost of a message, expressed in octets. */
const OCTETS_A_MESSAGE = 16_000;
/** Below this share of a run, its pace says too little. */
const SAID_FROM = 0.1;
/** So does a shorter time than this, in seconds. */
const SAID_AFTER_SECONDS = 5;

/**
 * A run's progress in messages and octets: what it has moved itself, and what is left; `null` while that is unknown.
 */
export type Work = {
  readonly moved: { readonly messages: number; readonly octets: number; readonly refused?: number };
  readonly left: { readonly messages: number; readonly octets: number } | null;
};

/** In octets. */
export function costOf({ messages, octets }: Work['moved']): number {
  return octets + messages * OCTETS_A_MESSAGE;
}

/**
 * Estimates from the pace of a run when it will be done.
 * @param elapsed milliseconds since some moment
 */
export function openPace(elapsed: () => number): { secondsLeft: (work: Work) => number | undefined } {
  let begun = elapsed();
  return {
    /** `undefined` while there is no estimate. */
    secondsLeft: ({ moved, left }) => {
      // Listing comes first, and says nothing about the pace.
      if (moved.messages === 0) begun = elapsed();
      if (left === null || moved.messages === 0) return undefined;
      const [done, open] = [costOf(moved), costOf(left)];
      const seconds = (elapsed() - begun) / 1000;
      if (done < SAID_FROM * (done + open) || seconds < SAID_AFTER_SECONDS) return undefined;
      return Math.round((open / done) * seconds);
    },
  };
}
