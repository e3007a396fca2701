import * as v from 'valibot';

/**
 * A proof of work, which a refusal with `TOO_MANY_ATTEMPTS` may ask for: who repeats the call with it is let through.
 * It has so many parts; the answer to each is a counter from 0 for which the first 32 bits of PBKDF2-HMAC-SHA-512 of the
 * token, salted with part and counter (two 32-bit integers, big-endian), are below 2^32 / `tries`.
 *
 * PBKDF2 because browsers have it themselves, off the page's thread: a phone does about as much of it as any other
 * program does on a core of its kind. Parts because their sum varies less than one hit would: the longest of a hundred
 * takes 1.7 times the mean.
 */
export const WORK = { parts: 16, iterations: 1000, hash: 'SHA-512', bits: 32 } as const;

/** The header that brings the solution, as {@link writeSolution} makes it. */
export const WORK_HEADER = 'proof-of-work';

export const Challenge = v.object({
  /** Opaque; good for one call and one mailbox. */
  token: v.pipe(v.string(), v.minLength(1), v.maxLength(512)),
  /** How many tries each part takes in the mean. */
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

/** `null` when it is not well formed. */
export function readSolution(text: string): Solution | null {
  const [token = '', ...numbers] = text.split(' ', WORK.parts + 2);
  const counters = numbers.map(Number);
  const areCounters = counters.every((counter) => Number.isInteger(counter) && counter >= 0 && counter < 2 ** 32);
  return token !== '' && counters.length === WORK.parts && areCounters ? { token, counters } : null;
}
