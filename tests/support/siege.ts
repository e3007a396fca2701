import { openLimits } from '../../src/server/web/limits.ts';
import { openSignInLimits, PRICE, type Outcome } from '../../src/server/web/sign-in-limits.ts';
import type { Work } from '../../src/server/web/work.ts';
import { Refusal } from '../../src/server/web/refusal.ts';
import { openVault } from '../../src/server/store/vault.ts';
import { FRESH, openTestDatabase } from './fresh-database.ts';

const MINUTE_MS = 60_000;
/** Each site's share of the reserve; and how many sites try the shared allowance, each minute. */
const TURNS = 3;
const EAGER = 2;

type Siege = {
  /** How many IPv4 addresses guess, each as often as it is allowed, with unlimited computing power. */
  readonly sites: number;
  readonly minutes: number;
  /** How many sites join per minute. */
  readonly joining: number;
  /** The minutes at which a first-time owner comes, from a network that nobody else uses. */
  readonly owners: readonly number[];
};

type Visitor = { readonly client: string; readonly browser: string };

/**
 * A mailbox under attack, on a simulated clock and a database of its own. Work counts as done as soon as it is
 * demanded, because the attackers have unlimited computing power.
 */
export async function besiege({ sites, minutes, joining, owners }: Siege) {
  await using database = await openTestDatabase(FRESH);
  const clock = { now: Date.parse('2025-11-01T00:00:00Z') };
  const now = () => clock.now;
  const vault = openVault(new Uint8Array(32).fill(7));
  const limits = openLimits({ database, vault, now });
  const prices: number[] = [];
  const work: Work = {
    ask: (_, tries) => {
      prices.push(tries);
      return { token: 'asked', tries };
    },
    take: async (solution) => solution === 'done',
    purge: async () => {},
  };
  const signInLimits = openSignInLimits({ database, vault, limits, work, now });

  /** @returns the refusal, or `null` if the password was tried */
  async function attempt({ client, browser }: Visitor, outcome: Outcome, isWorked: boolean): Promise<Refusal | null> {
    const signIn = { mailbox: 'ann@sanbruno.example', host: 'imap.sanbruno.example', hostIsNamed: false, call: '/' };
    const solution = isWorked ? { solution: 'done' } : {};
    try {
      const report = await signInLimits.trySignIn({ ...signIn, client, browser, ...solution });
      await report(outcome);
      return null;
    } catch (error) {
      if (error instanceof Refusal) return error;
      throw error;
    }
  }

  /** Signs in like the portal, doing the work if it is demanded. @returns how often, or `null` if refused */
  async function come(visitor: Visitor, outcome: Outcome): Promise<number | null> {
    const refusal = await attempt(visitor, outcome, false);
    if (refusal === null) return 0;
    if (refusal.challenge === undefined) return null;
    return (await attempt(visitor, outcome, true)) === null ? 1 : null;
  }

  const guesses: number[] = [];
  const guess = async (site: number, isWorked: boolean) => {
    const client = `198.${Math.floor(site / 65_536)}.${Math.floor(site / 256) % 256}.${site % 256}`;
    const tried = (await attempt({ client, browser: `guesser ${site}` }, 'wrong', isWorked)) === null;
    if (tried) guesses.push(clock.now);
    return tried;
  };

  const arrivals: { minute: number; work: readonly (number | null)[] }[] = [];
  for (let minute = 0; minute < minutes; minute += 1) {
    const begin = Math.min(sites, minute * joining);
    const end = Math.min(sites, begin + joining);
    for (let site = begin; site < end; site += 1) for (let turn = 0; turn < TURNS; turn += 1) await guess(site, true);
    for (let at = 0; at < EAGER; at += 1) {
      const site = (minute * EAGER + at) % sites;
      await guess(site, false);
      await guess(site, true);
    }
    if (owners.includes(minute)) {
      const owner = { client: `203.0.${minute % 256}.${arrivals.length % 256}`, browser: `owner ${minute}` };
      // Mistypes the password twice, and then gets it right.
      const work = [await come(owner, 'wrong'), await come(owner, 'wrong'), await come(owner, 'right')];
      arrivals.push({ minute, work });
    }
    clock.now += MINUTE_MS;
  }
  return { guesses, arrivals, dearest: Math.max(PRICE.least, ...prices) };
}

/** The largest number of guesses in any hour. */
export function busiestHour(guesses: readonly number[]): number {
  let first = 0;
  return guesses.reduce((most, time, at) => {
    while ((guesses[first] ?? 0) <= time - 60 * MINUTE_MS) first += 1;
    return Math.max(most, at - first + 1);
  }, 0);
}
