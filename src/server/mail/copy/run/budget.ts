import type { Clock } from '../../../clock.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { AccountLimits } from './mail-copy.ts';
import type { Budget } from './run.ts';

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
/** The copy goes on when this share of a day's octets is free again. */
const FREE_SHARE = 0.5;

/** A provider's daily limit is used up; the transfer goes on by itself later. */
export class ProviderLimit extends Error {
  override name = 'ProviderLimit';
  readonly account: 'source' | 'destination';
  /** Milliseconds since the epoch. */
  readonly until: number;
  constructor(account: 'source' | 'destination', until: number) {
    super(`The ${account} allows no more octets today.`);
    this.account = account;
    this.until = until;
  }
}

/**
 * Counts octets against what both accounts allow in any 24 hours, starting from what the ledger knows of the hours
 * before.
 */
export async function openBudget(
  limits: { readonly source: AccountLimits; readonly destination: AccountLimits },
  ledger: Ledger,
  clock: Clock,
): Promise<Budget> {
  const ways = [
    { account: 'destination', way: 'up', limit: limits.destination.upADay },
    { account: 'source', way: 'down', limit: limits.source.downADay },
  ] as const;
  const limited = ways.flatMap((each) => (each.limit === undefined ? [] : [{ ...each, limit: each.limit }]));
  if (limited.length === 0) return { take: async () => {}, correct: () => {}, room: () => Infinity };
  const before = await ledger.traffic(clock.now() - DAY_HOURS * HOUR_MS);
  let here = 0;
  return {
    room: () => Math.min(...limited.map(({ way, limit }) => limit - before[way] - here)),
    correct: (octets) => {
      here += octets;
    },
    take: async (octets) => {
      here += octets;
      for (const { account, way, limit } of limited) {
        // A message that is larger than a whole day's octets goes alone.
        if (before[way] + here <= limit || before[way] + here === octets) continue;
        here -= octets;
        throw new ProviderLimit(account, await freeAt(way, limit, ledger, clock));
      }
    },
  };
}

/** When enough of the traffic of the last 24 hours will be older than that. */
async function freeAt(way: 'up' | 'down', limit: number, ledger: Ledger, clock: Clock): Promise<number> {
  const now = clock.now();
  for (let hours = 1; hours < DAY_HOURS; hours += 1) {
    const traffic = await ledger.traffic(now - (DAY_HOURS - hours) * HOUR_MS);
    if (traffic[way] <= limit * FREE_SHARE) return now + hours * HOUR_MS;
  }
  return now + DAY_HOURS * HOUR_MS;
}
