export type TimeLeft = { readonly unit: 'day' | 'hour'; readonly count: number };

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Whether access was due to end already. */
export function isOver({ unit, count }: TimeLeft): boolean {
  return unit === 'day' && count === 0;
}

/** The time until access ends: whole days, whole hours under one day, 0 days after it (`decisions.md`). */
export function timeLeft(accessEnd: string, now: number): TimeLeft {
  const left = Date.parse(accessEnd) - now;
  if (left <= 0) return { unit: 'day', count: 0 };
  if (left < DAY) return { unit: 'hour', count: Math.floor(left / HOUR) };
  return { unit: 'day', count: Math.floor(left / DAY) };
}
