import { STATUS_HEARTBEAT_MS } from '../src/contract/transfer-status.ts';

/** Every time of `portal.md` §9, and our own additions, in ms, by name. */
export const DELAYS = {
  'typing pause': 1_000,
  'empty contact pause': 3_000,
  'banner life': 5_000,
  'destination banner life': 7_000,
  /** Between a failed check of the notification contact and the next one. */
  'check pause': 10_000,
  'success pause': 1_000,
  'redirect pause': 2_000,
  'policy pause': 500,
  'copy pause': 1_500,
  'countdown tick': 1_000,
  /** Between losing the live status and requesting it, after which it is followed again. */
  'status pause': 2_000,
  /** The same if that failed, or the stream never delivered anything. */
  'long status pause': 10_000,
  /** After this, a silent stream counts as lost. */
  'status silence': 3 * STATUS_HEARTBEAT_MS,
  /** After this, the page says that it takes longer than usual. */
  'slow answer': 10_000,
  /** After this, the page stops waiting; the call itself has no time limit (`portal.md` §9). */
  'answer limit': 30_000,
} as const;
