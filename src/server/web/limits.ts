import type { Challenge } from '../../contract/work.ts';
import { Refusal } from './refusal.ts';
import { openRepeatedRefusals } from './repeated-refusals.ts';
import type { Sql } from '../store/database.ts';
import type { Vault } from '../store/vault.ts';

/** `burst` at once, then one per `everySeconds`. */
type Limit = { readonly burst: number; readonly everySeconds: number };

/**
 * Every limit by name. Only failed sign-ins count: a successful one is given back. The state is in the database, so
 * that it survives restarts and is shared by all processes. `sign-in-limits.ts` explains the limits for sign-ins.
 */
export const LIMITS = {
  'sign-ins to a mailbox': { burst: 5, everySeconds: 60 },
  'sign-ins to a mailbox by a client that knows it': { burst: 5, everySeconds: 30 },
  /** By all of them: who has signed in many times before the password was changed has as many browsers that know it. */
  'sign-ins to a mailbox by all clients that know it': { burst: 20, everySeconds: 30 },
  'sign-ins to a host': { burst: 300, everySeconds: 0.2 },
  'sign-ins to a host by clients that know a mailbox': { burst: 300, everySeconds: 0.2 },
  'sign-ins to a host that a visitor named': { burst: 30, everySeconds: 5 },
  'sign-ins by a client': { burst: 20, everySeconds: 15 },
  /** A tenth of what a host gets: a /48 has 65,536 clients. */
  'sign-ins by a neighbourhood': { burst: 100, everySeconds: 2 },
  'sign-ins with work to a mailbox': { burst: 16_000, everySeconds: 120 },
  'sign-ins with work to a mailbox by a site': { burst: 3, everySeconds: 10 * 24 * 3600 },
  'further sign-ins with work to a mailbox': { burst: 30, everySeconds: 120 },
  'sign-ins with work to a host': { burst: 50_000, everySeconds: 0.02 },
  'sign-ins with work to a host that a visitor named': { burst: 300, everySeconds: 1 },
  'sign-ins with work by a client': { burst: 10, everySeconds: 120 },
  /** These two refuse nobody: the more of one is used, the more the next proof of work costs. */
  'price of a mailbox': { burst: 64, everySeconds: 60 },
  'price of a host': { burst: 4800, everySeconds: 0.2 },
  /** What is remembered of visitors at hosts that they named stays for 90 days, and such a host may take anybody. */
  'visitors remembered elsewhere from a neighbourhood': { burst: 100, everySeconds: 600 },
  'visitors remembered elsewhere': { burst: 50_000, everySeconds: 60 },
  /** Who has the password could come from ever new networks and browsers. */
  'visitors remembered at a mailbox': { burst: 60, everySeconds: 1800 },
  'sessions of a mailbox': { burst: 100, everySeconds: 60 },
  'calls by a client': { burst: 300, everySeconds: 0.1 },
  'look-ups by a client': { burst: 60, everySeconds: 1 },
  'host checks by a client': { burst: 20, everySeconds: 3 },
  'consents by a client': { burst: 30, everySeconds: 5 },
  'support messages by a client': { burst: 5, everySeconds: 300 },
  /** So that no customer of a data center can use up those of all strangers together. */
  'support messages of strangers from a neighbourhood': { burst: 40, everySeconds: 900 },
  'support messages about a mailbox': { burst: 10, everySeconds: 3600 },
  /** Keeps strangers from using up the limit of an owner who has proved that the mailbox is theirs. */
  'support messages about a mailbox by its owner': { burst: 10, everySeconds: 3600 },
  /** All of them go to the same support desk. */
  'support messages': { burst: 200, everySeconds: 300 },
  'copies of support messages to an address': { burst: 5, everySeconds: 3600 },
  'answers to support messages of strangers to an address': { burst: 1, everySeconds: 24 * 3600 },
  /** Take-backs count as well: their contact gets a letter of each. */
  'transfers of a mailbox': { burst: 20, everySeconds: 3600 },
  'transfers by a client': { burst: 60, everySeconds: 600 },
  /** Each time its contact, who may be a stranger, may get another letter. */
  'times that transfers of a mailbox are put right': { burst: 20, everySeconds: 1800 },
  /** Each order sends two messages, and the contact may be a stranger's: see `order-limits.ts`. */
  'transfers that tell a contact': { burst: 12, everySeconds: 2 * 3600 },
  'transfers of a mailbox that tell a contact': { burst: 2, everySeconds: 12 * 3600 },
} as const satisfies Record<string, Limit>;
export type LimitName = keyof typeof LIMITS;

/** How far the clocks of two processes may be apart. */
export const CLOCKS_APART_MS = 60_000;

/** One use of a limit, for a subject. */
export type Count = readonly [name: LimitName, subject: string];

export type Limits = {
  /** @throws {Refusal} 429 with `Retry-After`. */
  take(...count: Count): Promise<void>;
  /** Takes all or none. @returns milliseconds to wait; 0 if they were taken. */
  takeAll(counts: readonly Count[]): Promise<number>;
  giveBack(counts: readonly Count[]): Promise<void>;
  /** How much of the burst is used up. */
  used(...count: Count): Promise<number>;
  /** The same limits within a transaction: what it takes only counts if it commits. */
  within(sql: Sql): Pick<Limits, 'take' | 'takeAll'>;
  /** Deletes what no longer limits anybody. */
  purge(): Promise<void>;
};

type Services = { readonly database: Sql; readonly vault: Vault; readonly now: () => number };

export function limitKey(vault: Vault, [name, subject]: Count): string {
  return vault.digest(`limit ${name}`, subject);
}

/**
 * The latest time up to which a limit can be used up. A later one in the database was written while a clock was ahead,
 * and is ignored: it would lock clients out for that long.
 */
export function usedUpBy({ burst, everySeconds }: Limit, now: number): number {
  return now + burst * everySeconds * 1000 + CLOCKS_APART_MS;
}

export function openLimits({ database, vault, now }: Services): Limits {
  const keyOf = (...count: Count) => limitKey(vault, count);
  const refusals = openRepeatedRefusals(now);

  async function giveBack(counts: readonly Count[]): Promise<void> {
    for (const [name, subject] of counts)
      await database.query('update limits set free_at = free_at - $2::float8 where key = $1', [
        keyOf(name, subject),
        LIMITS[name].everySeconds * 1000,
      ]);
  }

  async function takeAll(counts: readonly Count[]): Promise<number> {
    for (const [at, [name, subject]] of counts.entries()) {
      const wait = await takeToken(database, LIMITS[name], keyOf(name, subject), now());
      if (wait === 0) continue;
      // A refused attempt doesn't count; otherwise guesses at one mailbox would use up the limits of all others.
      await giveBack(counts.slice(0, at));
      return wait;
    }
    return 0;
  }

  return {
    takeAll,
    giveBack,
    take: async (...count) => {
      const key = keyOf(...count);
      // What is taken by itself is never given back. Asking would cost more than many a call that is let through.
      const known = refusals.waitOf(key);
      if (known > 0) throw tooMany(known);
      const wait = await takeAll([count]);
      if (wait === 0) return;
      refusals.note(key, wait);
      throw tooMany(wait);
    },
    used: async (name, subject) => {
      const [row] = await database.query<{ free_at: number }>('select free_at from limits where key = $1', [
        keyOf(name, subject),
      ]);
      const freeAt = row?.free_at ?? 0;
      const isPossible = freeAt <= usedUpBy(LIMITS[name], now());
      return isPossible ? Math.max(0, (freeAt - now()) / (LIMITS[name].everySeconds * 1000)) : 0;
    },
    within: (sql) => openLimits({ database: sql, vault, now }),
    purge: async () => {
      await database.query('delete from limits where free_at < $1', [now()]);
    },
  };
}

/**
 * The generic cell rate algorithm (ITU-T I.371), whose only state is the time at which the whole burst is available
 * again. It is a single statement, so that processes can't race.
 * @returns milliseconds to wait; 0 if the token was taken.
 */
async function takeToken(sql: Sql, limit: Limit, key: string, now: number): Promise<number> {
  const every = limit.everySeconds * 1000;
  const allowance = (limit.burst - 1) * every;
  const taken = await sql.query(
    `insert into limits (key, free_at) values ($1, $2::float8 + $3::float8)
     on conflict (key) do update set free_at =
       case when limits.free_at > $5::float8 then $2::float8 else greatest(limits.free_at, $2::float8) end + $3::float8
     where limits.free_at <= $2::float8 + $4::float8 or limits.free_at > $5::float8
     returning key`,
    [key, now, every, allowance, usedUpBy(limit, now)],
  );
  if (taken.length > 0) return 0;
  const [row] = await sql.query<{ free_at: number }>('select free_at from limits where key = $1', [key]);
  return Math.max(1, (row?.free_at ?? now) - allowance - now);
}

export function tooMany(waitMs: number, challenge?: Challenge): Refusal {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const wait = seconds < 120 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
  return new Refusal(429, 'TOO_MANY_ATTEMPTS', `Too many attempts. Your mail is safe. Please try again in ${wait}.`, {
    retryAfter: seconds,
    ...(challenge === undefined ? {} : { challenge }),
  });
}
