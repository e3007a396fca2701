import * as v from 'valibot';

/**
 * A proof of work. A refusal with `TOO_MANY_ATTEMPTS` may come with a challenge; the same call with the solution is let
 * through. For each of the `parts`, it has a counter, from 0, for which the first 32 bits of PBKDF2-HMAC-SHA-512 of the
 * token, salted with part and counter (two 32-bit integers, big-endian), are below 2^32 / `tries`.
 *
 * PBKDF2, because browsers run it natively, off the main thread: a phone's browser is about as fast at it as any other
 * program on such a core. Several parts, because their sum varies less than a single hit would: the longest of a
 * hundred solutions takes 1.7 times the mean.
 */
export const WORK = { parts: 16, iterations: 1000, hash: 'SHA-512', bits: 32 } as const;

/** The request header for the solution; see {@link writeSolution}. */
export const WORK_HEADER = 'proof-of-work';

export const Challenge = v.object({
  /** Opaque; valid for one call and one mailbox. */
  token: v.pipe(v.string(), v.minLength(1), v.maxLength(512)),
  /** How many tries each part takes on average. */
  tries: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100_000)),
});
export type Challenge = v.InferOutput<typeof Challenge>;

export function saltOf(part: number, counter: number): Uint8Array<ArrayBuffer> {
  const salt = new Uint8Array(8);
  const view = new DataView(salt.buffer);
  view.setUint32(0, part);
  view.setUint32(4, counter);
  return salt;
}

/** @param derived at least 4 octets */
export function isHit(derived: Uint8Array, tries: number): boolean {
  return new DataView(derived.buffer, derived.byteOffset).getUint32(0) < 2 ** 32 / tries;
}

export type Solution = { readonly token: string; readonly counters: readonly number[] };

export function writeSolution({ token, counters }: Solution): string {
  return `${token} ${counters.join(' ')}`;
}

/** `null` if malformed. */
export function readSolution(text: string): Solution | null {
  const [token = '', ...numbers] = text.split(' ', WORK.parts + 2);
  const counters = numbers.map(Number);
  const areCounters = counters.every((counter) => Number.isInteger(counter) && counter >= 0 && counter < 2 ** 32);
  return token !== '' && counters.length === WORK.parts && areCounters ? { token, counters } : null;
}
