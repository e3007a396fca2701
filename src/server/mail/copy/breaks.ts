/**
 * Some servers hang up at a message each time. One at which connections broke so often among others is asked for alone,
 * after all others; and so often alone: it is left out.
 */
export const [BREAKS_TOGETHER, BREAKS_ALONE] = [2, 2];
/** One that is to be read back, and at which they broke so often, is not asked for any more in this run. */
export const BREAKS_READING_BACK = 3;

/** What a run counts the faults of a message by. */
export function messageName(side: 'source' | 'destination', path: string, uid: number): string {
  return `${side} ${path} ${uid}`;
}
