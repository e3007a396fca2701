import * as v from 'valibot';
import { Challenge, isHit, saltOf, WORK, writeSolution } from '../contract/work.ts';

const Challenged = v.object({ error: v.literal('TOO_MANY_ATTEMPTS'), challenge: Challenge });

/** So many parts at once, for a browser that derives on several threads. */
const AT_ONCE = 4;

/**
 * Does the work that a refusal asks for; `null` when it asks for none, or the browser can't do it (it derives keys only
 * for pages that came over a safe connection). Each derivation runs beside the page's thread, so that nothing stutters
 * and no script of a worker needs to be let in.
 */
export async function solutionFor(refusal: unknown, signal: AbortSignal): Promise<string | null> {
  const asked = v.safeParse(Challenged, refusal);
  if (!asked.success || !isSecureContext) return null;
  const { token, tries } = asked.output.challenge;
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(token), 'PBKDF2', false, ['deriveBits']);
  const counters: number[] = [];
  let begun = 0;
  const solveParts = async () => {
    while (begun < WORK.parts) {
      const part = begun;
      begun += 1;
      counters[part] = await solve(key, part, tries, signal);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, solveParts));
  return writeSolution({ token, counters });
}

async function solve(key: CryptoKey, part: number, tries: number, signal: AbortSignal): Promise<number> {
  for (let counter = 0; ; counter += 1) {
    signal.throwIfAborted();
    const derivation = { name: 'PBKDF2', hash: WORK.hash, iterations: WORK.iterations, salt: saltOf(part, counter) };
    const derived = await crypto.subtle.deriveBits(derivation, key, WORK.bits);
    if (isHit(new Uint8Array(derived), tries)) return counter;
  }
}
