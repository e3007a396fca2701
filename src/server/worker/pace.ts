/** What a message costs besides its octets, in octets. */
const OCTETS_A_MESSAGE = 16_000;
/** Before this share of a run is done its pace says too little. */
const SAID_FROM = 0.1;
/** Before so many seconds it says too little as well. */
const SAID_AFTER_SECONDS = 5;

/** How far a run is, in messages and octets: what it has moved itself, and what is left, `null` when that is not known yet. */
export type Work = {
  readonly moved: { readonly messages: number; readonly octets: number };
  readonly left: { readonly messages: number; readonly octets: number } | null;
};

function costOf({ messages, octets }: Work['moved']): number {
  return octets + messages * OCTETS_A_MESSAGE;
}

/**
 * Tells from the pace of a run when it is likely to be done.
 * @param elapsed milliseconds since some moment
 */
export function openPace(elapsed: () => number): { secondsLeft: (work: Work) => number | undefined } {
  let begun = elapsed();
  return {
    /** `undefined` while it can't be said. */
    secondsLeft: ({ moved, left }) => {
      // Listing comes first, and says nothing of the pace.
      if (moved.messages === 0) begun = elapsed();
      if (left === null || moved.messages === 0) return undefined;
      const [done, open] = [costOf(moved), costOf(left)];
      const seconds = (elapsed() - begun) / 1000;
      if (done < SAID_FROM * (done + open) || seconds < SAID_AFTER_SECONDS) return undefined;
      return Math.round((open / done) * seconds);
    },
  };
}
