import { pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import * as v from 'valibot';
import { isHit, readSolution, saltOf, WORK, type Challenge, type Solution } from '../../contract/work.ts';
import type { Database } from '../store/database.ts';
import type { Vault } from '../store/vault.ts';

/** Longer than a slow phone needs for the most expensive work. */
export const WORK_WITHIN_MS = 3 * 60_000;
const SOLUTION_LENGTH = 1024;
/** How much dearer it may have become since it was demanded: others sign in while one works. */
const DEARER_AT_MOST = 2;

/** What a challenge is valid for. */
export type Occasion = { readonly call: string; readonly mailbox: string };

/** Challenges of `contract/work.ts`. They are signed, so that none is stored before it is solved, and accepted once. */
export type Work = {
  ask(occasion: Occasion, tries: number): Challenge;
  /**
   * Whether this is the work that was demanded on this occasion, done in time, and not accepted before.
   * @param price in tries, by now: what was demanded before it more than doubled was gathered ahead, while it was cheap
   */
  take(solution: string, occasion: Occasion, price: number): Promise<boolean>;
  purge(): Promise<void>;
};

type Services = { readonly database: Database; readonly vault: Vault; readonly now: () => number };

const Asked = v.tuple([v.string(), v.number(), v.number(), v.string()]);

function derive(password: string, salt: Uint8Array, rounds: number, octets: number, digest: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    pbkdf2(password, salt, rounds, octets, digest, (error, key) => (error === null ? resolve(key) : reject(error)));
  });
}

export function openWork({ database, vault, now }: Services): Work {
  const signed = (body: string) => vault.digest('work challenge', body);
  const digestOf = ({ call, mailbox }: Occasion) => vault.digest('work occasion', `${call}\n${mailbox}`).slice(0, 32);

  /** The challenge in a token, if it is ours, hasn't expired and is for this occasion; otherwise `null`. */
  function askedFor(token: string, occasion: Occasion): { id: string; tries: number; until: number } | null {
    const [body = '', signature = ''] = token.split('.', 2);
    if (!isSame(signature, signed(body))) return null;
    const [id, tries, until, digest] = v.parse(Asked, JSON.parse(Buffer.from(body, 'base64url').toString()));
    return until > now() && digest === digestOf(occasion) ? { id, tries, until } : null;
  }

  return {
    ask: (occasion, tries) => {
      const asked: v.InferOutput<typeof Asked> = [
        randomBytes(16).toString('hex'),
        tries,
        now() + WORK_WITHIN_MS,
        digestOf(occasion),
      ];
      const body = Buffer.from(JSON.stringify(asked)).toString('base64url');
      return { token: `${body}.${signed(body)}`, tries };
    },
    take: async (text, occasion, price) => {
      const solution = text.length > SOLUTION_LENGTH ? null : readSolution(text);
      const asked = solution === null ? null : askedFor(solution.token, occasion);
      if (solution === null || asked === null || asked.tries * DEARER_AT_MOST < price) return false;
      if (!(await isDone(solution, asked.tries))) return false;
      const taken = await database.query(
        'insert into spent_work (id, expires) values ($1, $2) on conflict (id) do nothing returning id',
        [asked.id, asked.until],
      );
      return taken.length > 0;
    },
    purge: async () => {
      await database.query('delete from spent_work where expires <= $1', [now()]);
    },
  };
}

/** Stops at the first wrong part, so a wrong solution costs about a millisecond. */
async function isDone({ token, counters }: Solution, tries: number): Promise<boolean> {
  for (const [part, counter] of counters.entries()) {
    const derived = await derive(token, saltOf(part, counter), WORK.iterations, WORK.bits / 8, WORK.hash);
    if (!isHit(derived, tries)) return false;
  }
  return true;
}

function isSame(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
