import { STATUS_HEARTBEAT_MS } from '../src/contract/transfer-status.ts';

/** Every time of `portal.md` §9 and the waits that the house adds, in ms, by name. */
export const DELAYS = {
  'typing pause': 1_000,
  'empty contact pause': 3_000,
  'banner life': 5_000,
  'destination banner life': 7_000,
  /** From a check of the notification contact that failed until the next one. */
  'check pause': 10_000,
  'success pause': 1_000,
  'redirect pause': 2_000,
  'policy pause': 500,
  'copy pause': 1_500,
  'countdown tick': 1_000,
  /** From the loss of the live status until it is asked for, and then followed anew. */
  'status pause': 2_000,
  /** The same where that failed, or the stream had never said anything. */
  'long status pause': 10_000,
  /** After this, a stream that says nothing is taken for lost. */
  'status silence': 3 * STATUS_HEARTBEAT_MS,
  /** After this, the page says that it takes longer than usual. */
  'slow answer': 10_000,
  /** After this, the page stops waiting; the call itself has no time limit (`portal.md` §9). */
  'answer limit': 30_000,
} as const;
