/** So long: a moment after a refusal, the database is asked again. */
const REPEATED_MS = 1000;
const REMEMBERED_AT_MOST = 10_000;

/** What limits have just refused. */
export type RepeatedRefusals = {
  /** Milliseconds to wait; 0 if that is not known. */
  waitOf(key: string): number;
  note(key: string, waitMs: number): void;
};

/** @param now milliseconds since the epoch */
export function openRepeatedRefusals(now: () => number): RepeatedRefusals {
  const refused = new Map<string, { readonly since: number; readonly until: number }>();
  return {
    waitOf: (key) => {
      const { since, until } = refused.get(key) ?? { since: 0, until: 0 };
      const at = now();
      // Unless the clock has been put back.
      if (since <= at && at < Math.min(until, since + REPEATED_MS)) return until - at;
      refused.delete(key);
      return 0;
    },
    note: (key, waitMs) => {
      const [oldest] = refused.keys();
      if (refused.size >= REMEMBERED_AT_MOST && oldest !== undefined) refused.delete(oldest);
      refused.set(key, { since: now(), until: now() + waitMs });
    },
  };
}
