import { Refusal } from './refusal.ts';
import type { Database, Sql } from '../store/database.ts';
import type { Vault } from '../store/vault.ts';

/** `burst` at once, then one every so many seconds. */
type Limit = { readonly burst: number; readonly everySeconds: number };

/**
 * Every limit by name. Sign-ins count while they fail: one that succeeds is given back. They are kept in the database,
 * so that a restart or a second process forgets nothing.
 */
export const LIMITS = {
  'sign-ins to a mailbox': { burst: 5, everySeconds: 30 },
  'sign-ins to a mailbox by a client that knows it': { burst: 5, everySeconds: 30 },
  'sign-ins to a host': { burst: 300, everySeconds: 0.2 },
  'sign-ins to a host that a visitor named': { burst: 30, everySeconds: 5 },
  'sign-ins by a client': { burst: 20, everySeconds: 15 },
  'calls by a client': { burst: 300, everySeconds: 0.1 },
  'look-ups by a client': { burst: 60, everySeconds: 1 },
  'host checks by a client': { burst: 20, everySeconds: 3 },
  'consents by a client': { burst: 30, everySeconds: 5 },
  'support messages by a client': { burst: 5, everySeconds: 300 },
  'support messages about a mailbox': { burst: 10, everySeconds: 3600 },
  /** They all go to one desk. */
  'support messages': { burst: 200, everySeconds: 300 },
  'copies of support messages to an address': { burst: 5, everySeconds: 3600 },
  'transfers of a mailbox': { burst: 20, everySeconds: 3600 },
  'transfers by a client': { burst: 60, everySeconds: 600 },
  /** Each has two messages sent, and the contact may be somebody else's. */
  'transfers that tell a contact': { burst: 12, everySeconds: 2 * 3600 },
} as const satisfies Record<string, Limit>;
export type LimitName = keyof typeof LIMITS;

/** How far ahead a refused client's next sign-in to a busy mailbox can be booked, and how long a slot is kept. */
const BOOKED_AT_MOST_MS = 15 * 60_000;
const SLOT_KEPT_MS = 10 * 60_000;
/** How long a client that signed in to a mailbox is remembered. */
const KNOWN_MS = 90 * 24 * 3_600_000;

export type SignIn = {
  readonly mailbox: string;
  readonly host: string;
  readonly hostIsNamed: boolean;
  readonly client: string;
  /** What the browser's cookie holds. */
  readonly browser: string;
};
/** `wrong`: the password was refused, or there was no answer to it. `unknown`: the server was not asked. */
export type Outcome = 'right' | 'wrong' | 'unknown';

export type Limits = {
  /** @throws {Refusal} 429 with `Retry-After`. */
  take(name: LimitName, subject: string): Promise<void>;
  /**
   * Lets a sign-in be tried, or refuses it with the time at which this client will be let through: its slot is booked,
   * so that others who guess at the mailbox can't keep its owner out. Report the outcome afterwards.
   * @throws {Refusal} 429 with `Retry-After`.
   */
  trySignIn(signIn: SignIn): Promise<(outcome: Outcome) => Promise<void>>;
  /** Whether the client has signed in to the mailbox within that time, at a host that no visitor named. */
  hasSignedIn(mailbox: string, client: string, withinMs: number): Promise<boolean>;
  /** Forgets what no longer limits anybody. */
  purge(): Promise<void>;
};

type Services = { readonly database: Database; readonly vault: Vault; readonly now: () => number };

export function openLimits({ database, vault, now }: Services): Limits {
  const keyOf = (name: LimitName, subject: string) => vault.digest(`limit ${name}`, subject);

  async function takeOne(sql: Sql, name: LimitName, subject: string): Promise<void> {
    const wait = await takeToken(sql, LIMITS[name], keyOf(name, subject), now());
    if (wait > 0) throw tooMany(wait);
  }

  return {
    take: (name, subject) => takeOne(database, name, subject),

    trySignIn: async ({ mailbox, host, hostIsNamed, client, browser }) => {
      // A host that the visitor named may let anybody in: who signed in there knows the mailbox there, and nowhere else.
      const account = hostIsNamed ? `${mailbox}\n${host}` : mailbox;
      const pairs = [pairOf(account, client), pairOf(account, `browser ${browser}`)];
      const keys = pairs.map((each) => vault.digest('known client', each));
      const seen = await knownOf(database, keys, now() - KNOWN_MS);
      const pair = pairs.find((_, at) => seen.has(keys[at] ?? ''));
      const known = pair !== undefined;
      const hostLimit: LimitName = hostIsNamed ? 'sign-ins to a host that a visitor named' : 'sign-ins to a host';
      const mailboxLimit: LimitName = known
        ? 'sign-ins to a mailbox by a client that knows it'
        : 'sign-ins to a mailbox';
      const mailboxSubject = pair ?? account;
      const taken: [LimitName, string][] = [];
      try {
        await takeOne(database, 'sign-ins by a client', client);
        taken.push(['sign-ins by a client', client]);
        await takeOne(database, hostLimit, host);
        taken.push([hostLimit, host]);
        // The mailbox comes last: a slot that is taken up must not be lost to another limit.
        if (known) await takeOne(database, mailboxLimit, mailboxSubject);
        else await takeOrBook(database, keyOf(mailboxLimit, mailboxSubject), vault.digest('client', client), now());
      } catch (error) {
        // What never reached the mail server counts for nothing, or guesses at one mailbox would keep all others out.
        for (const [name, subject] of taken) await giveBack(database, name, keyOf(name, subject));
        throw error;
      }

      return async (outcome) => {
        if (outcome === 'wrong') return;
        await giveBack(database, mailboxLimit, keyOf(mailboxLimit, mailboxSubject));
        if (outcome === 'unknown') return;
        await giveBack(database, hostLimit, keyOf(hostLimit, host));
        await giveBack(database, 'sign-ins by a client', keyOf('sign-ins by a client', client));
        await database.query(
          `insert into known_clients (key, seen) select unnest($1::text[]), $2::float8
           on conflict (key) do update set seen = excluded.seen`,
          [keys, now()],
        );
      };
    },

    hasSignedIn: async (mailbox, client, withinMs) => {
      const key = vault.digest('known client', pairOf(mailbox, client));
      return (await knownOf(database, [key], now() - withinMs)).has(key);
    },

    purge: async () => {
      const time = now();
      await database.query('delete from limits where free_at < $1', [time]);
      await database.query('delete from limit_slots where slot < $1', [time - SLOT_KEPT_MS]);
      await database.query('delete from known_clients where seen < $1', [time - KNOWN_MS]);
    },
  };
}

/**
 * One statement, so that processes can't race: the generic cell rate algorithm (ITU-T I.371), whose whole state is the
 * time at which the burst would be full again.
 * @returns milliseconds to wait; 0 when the token was taken.
 */
async function takeToken(sql: Sql, { burst, everySeconds }: Limit, key: string, now: number): Promise<number> {
  const every = everySeconds * 1000;
  const allowance = (burst - 1) * every;
  const taken = await sql.query(
    `insert into limits (key, free_at) values ($1, $2::float8 + $3::float8)
     on conflict (key) do update set free_at = greatest(limits.free_at, $2::float8) + $3::float8
     where limits.free_at <= $2::float8 + $4::float8
     returning key`,
    [key, now, every, allowance],
  );
  if (taken.length > 0) return 0;
  const [row] = await sql.query<{ free_at: number }>('select free_at from limits where key = $1', [key]);
  return Math.max(1, (row?.free_at ?? now) - allowance - now);
}

async function takeOrBook(database: Database, key: string, client: string, now: number): Promise<void> {
  const { burst, everySeconds } = LIMITS['sign-ins to a mailbox'];
  const every = everySeconds * 1000;
  const wait = await database.transaction(async (sql) => {
    await sql.query('insert into limits (key, free_at) values ($1, 0) on conflict (key) do nothing', [key]);
    const [row] = await sql.query<{ free_at: number }>('select free_at from limits where key = $1 for update', [key]);
    const freeAt = row?.free_at ?? 0;
    const [booked] = await sql.query<{ slot: number }>(
      'select slot from limit_slots where limit_key = $1 and client = $2',
      [key, client],
    );
    if (booked !== undefined && now < booked.slot) return booked.slot - now;
    if (booked !== undefined) {
      await sql.query('delete from limit_slots where limit_key = $1 and client = $2', [key, client]);
      if (now <= booked.slot + SLOT_KEPT_MS) return 0;
    }
    const next = freeAt - (burst - 1) * every;
    const ahead = next - now;
    if (ahead > BOOKED_AT_MOST_MS) return ahead;
    await sql.query('update limits set free_at = greatest(free_at, $2::float8) + $3::float8 where key = $1', [
      key,
      now,
      every,
    ]);
    if (ahead <= 0) return 0;
    await sql.query('insert into limit_slots (limit_key, client, slot) values ($1, $2, $3)', [key, client, next]);
    return ahead;
  });
  if (wait > 0) throw tooMany(wait);
}

async function giveBack(sql: Sql, name: LimitName, key: string): Promise<void> {
  await sql.query('update limits set free_at = free_at - $2::float8 where key = $1', [
    key,
    LIMITS[name].everySeconds * 1000,
  ]);
}

function pairOf(mailbox: string, client: string): string {
  return `${mailbox}\n${client}`;
}

async function knownOf(sql: Sql, keys: readonly string[], since: number): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ key: string }>('select key from known_clients where key = any($1) and seen > $2', [
    [...keys],
    since,
  ]);
  return new Set(rows.map(({ key }) => key));
}

function tooMany(waitMs: number): Refusal {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const wait = seconds < 120 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
  return new Refusal(429, 'TOO_MANY_ATTEMPTS', `Too many attempts. Your mail is safe. Please try again in ${wait}.`, {
    retryAfter: seconds,
  });
}
