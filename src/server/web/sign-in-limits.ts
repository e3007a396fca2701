import type { Challenge } from '../../contract/work.ts';
import type { Database } from '../store/database.ts';
import type { Vault } from '../store/vault.ts';
import { widerNetwork } from './client-address.ts';
import { browserPairOf, openKnownClients, pairOf } from './known-clients.ts';
import { likenessOf } from './likeness.ts';
import { purgeSlots, takeOrBook } from './limit-slots.ts';
import { limitKey, tooMany, type Count, type Limits } from './limits.ts';
import type { Work } from './work.ts';

/**
 * The price of a proof of work, in tries for each of its 16 parts, a try being 1,000 rounds of PBKDF2. It doubles with
 * every so many guesses that were recently paid for. The highest price is 2 million rounds on average: 1.4 s on a
 * desktop computer, 6 s on a phone that does 360,000 a second, and 10 s there in the worst of a hundred cases.
 */
export const PRICE = { least: 8, most: 128, mailboxDoublesEvery: 8, hostDoublesEvery: 600 } as const;

export type SignIn = {
  readonly mailbox: string;
  readonly host: string;
  readonly hostIsNamed: boolean;
  /** The network: an IPv4 address or an IPv6 /64. */
  readonly client: string;
  /** The key in the browser's cookie. */
  readonly browser: string;
  /** The path of the call, and the work that came with it. */
  readonly call: string;
  readonly solution?: string | undefined;
};
/** `wrong`: the password was refused, or there was no answer to it. `unknown`: the server was not asked. */
export type Outcome = 'right' | 'wrong' | 'unknown';

/**
 * Who may try a password. There are three ways in, each with limits of its own, so that using up one can't close
 * another:
 * 1. A browser or network that has signed in to the mailbox within 90 days: 5 failures at once, then one per 30 s; all
 *    of them together 20, then one per 30 s, beyond which they count as anybody.
 * 2. Anybody, free of charge: 5 failures at a mailbox, then one a minute; a refused client gets a slot booked.
 * 3. Anybody with a proof of the work that a refusal by the second way asks for.
 *
 * The third keeps a mailbox open to an owner who signs in for the first time while strangers are guessing. It counts by
 * origin: a site (an IPv4 address or an IPv6 /48) has 3 failures a month at a mailbox, out of a reserve of 16,000 that
 * refills at 30 an hour; beyond that, it shares 30 an hour with all other sites. So 5,000 sites, with any amount of
 * computing power, can't empty the reserve (3 × 5,000 = 15,000, and their 3 a month come to 21 an hour), however long
 * they go on; somebody from another site gets in with a single proof of work.
 *
 * By all ways together, attackers get 16,035 guesses at a mailbox at once (5 + 16,000 + 30), and then 120 an hour (60
 * free, 30 from the reserve, 30 beyond it), whatever they spend. In 90 days that is about 275,000 guesses: a chance of
 * 1 in 10 million against a random password of eight letters and digits. As to work, N hours of a core that does 1.5
 * million rounds a second pay for about 2,600 × N guesses at the highest price, of which three count for each site.
 */
export type SignInLimits = {
  /**
   * Admits a sign-in, or refuses it with the time until this client will be admitted and the work that admits it now.
   * The returned function must be called with the outcome.
   * @throws {Refusal} 429 with `Retry-After`.
   */
  trySignIn(signIn: SignIn): Promise<(outcome: Outcome) => Promise<void>>;
  /** Records that this browser has signed in to the mailbox, at a host that wasn't named by a visitor, if it may. */
  recordBrowser(mailbox: string, browser: string): Promise<void>;
  /** Whether the client has signed in to the mailbox within this time, at a host that wasn't named by a visitor. */
  hasSignedIn(mailbox: string, client: string, withinMs: number): Promise<boolean>;
  purge(): Promise<void>;
};

type Services = {
  readonly database: Database;
  readonly vault: Vault;
  readonly limits: Limits;
  readonly work: Work;
  readonly now: () => number;
};

/** The limits that an attempt was counted against: the mailbox's, and the others. */
type Admission = { readonly mailbox: readonly Count[]; readonly others: readonly Count[] };

export function openSignInLimits({ database, vault, limits, work, now }: Services): SignInLimits {
  const known = openKnownClients({ database, vault, now });

  /** Those whom nobody remembers yet are limited: a host that a visitor named may take anybody. */
  async function rememberSome({ mailbox, client, hostIsNamed }: SignIn, pairs: readonly string[]): Promise<void> {
    const before = await known.among(pairs);
    const isFree =
      before.length === pairs.length ||
      (await limits.takeAll(
        hostIsNamed
          ? [
              ['visitors remembered elsewhere from a neighbourhood', widerNetwork(client)],
              ['visitors remembered elsewhere', 'all'],
            ]
          : [ofMailbox(mailbox)],
      )) === 0;
    await known.remember(mailbox, isFree ? pairs : before);
  }

  async function admitKnown(signIn: SignIn, account: string, pairs: readonly string[]): Promise<Admission | null> {
    for (const pair of await known.among(pairs)) {
      const mailbox: Count[] = [
        ['sign-ins to a mailbox by a client that knows it', pair],
        ['sign-ins to a mailbox by all clients that know it', account],
      ];
      const others: Count[] = [
        signIn.hostIsNamed
          ? ['sign-ins to a host that a visitor named', signIn.host]
          : ['sign-ins to a host by clients that know a mailbox', signIn.host],
      ];
      if ((await limits.takeAll([...others, ...mailbox])) === 0) return { mailbox, others };
    }
    return null;
  }

  /** @returns milliseconds to wait if it is refused */
  async function admitFree({ host, hostIsNamed, client }: SignIn, account: string): Promise<Admission | number> {
    const mailbox: Count = ['sign-ins to a mailbox', account];
    const others: Count[] = [
      ['sign-ins by a client', client],
      ['sign-ins by a neighbourhood', widerNetwork(client)],
      [hostIsNamed ? 'sign-ins to a host that a visitor named' : 'sign-ins to a host', host],
    ];
    const wait = await limits.takeAll(others);
    if (wait > 0) return wait;
    // The mailbox comes last, so that a booked slot isn't lost to a refusal by another limit.
    const ahead = await takeOrBook(database, limitKey(vault, mailbox), vault.digest('client', client), now());
    if (ahead === 0) return { mailbox: [mailbox], others };
    await limits.giveBack(others);
    return ahead;
  }

  /** @returns milliseconds to wait if it is refused */
  async function admitForWork({ host, hostIsNamed, client }: SignIn, account: string): Promise<Admission | number> {
    const others: Count[] = [
      ['sign-ins with work by a client', client],
      [hostIsNamed ? 'sign-ins with work to a host that a visitor named' : 'sign-ins with work to a host', host],
    ];
    const wait = await limits.takeAll(others);
    if (wait > 0) return wait;
    const ways: readonly Count[][] = [
      [
        ['sign-ins with work to a mailbox by a site', `${account}\n${siteOf(client)}`],
        ['sign-ins with work to a mailbox', account],
      ],
      [['further sign-ins with work to a mailbox', account]],
    ];
    let ahead = 0;
    for (const mailbox of ways) {
      ahead = await limits.takeAll(mailbox);
      if (ahead > 0) continue;
      for (const price of pricesOf(account, host)) if ((await limits.takeAll([price])) === 0) others.push(price);
      return { mailbox, others };
    }
    await limits.giveBack(others);
    return ahead;
  }

  async function priceOf(account: string, host: string): Promise<number> {
    const [mailboxPrice, hostPrice] = pricesOf(account, host);
    const doublings = Math.max(
      (await limits.used(...mailboxPrice)) / PRICE.mailboxDoublesEvery,
      (await limits.used(...hostPrice)) / PRICE.hostDoublesEvery,
    );
    return Math.min(PRICE.most, Math.round(PRICE.least * 2 ** doublings));
  }

  /** @throws {Refusal} */
  async function admit(signIn: SignIn, account: string, pairs: readonly string[]): Promise<Admission> {
    const asKnown = await admitKnown(signIn, account, pairs);
    if (asKnown !== null) return asKnown;
    const occasion = { call: signIn.call, mailbox: account };
    const { solution } = signIn;
    if (solution !== undefined && (await work.take(solution, occasion, await priceOf(account, signIn.host)))) {
      const admitted = await admitForWork(signIn, account);
      if (typeof admitted === 'number') throw tooMany(admitted);
      return admitted;
    }
    const admitted = await admitFree(signIn, account);
    if (typeof admitted !== 'number') return admitted;
    const challenge: Challenge = work.ask(occasion, await priceOf(account, signIn.host));
    throw tooMany(admitted, challenge);
  }

  return {
    trySignIn: async (signIn) => {
      const { mailbox, host, hostIsNamed, client, browser } = signIn;
      // A host that the visitor named may accept anybody, so a sign-in there only counts for the mailbox at that host.
      const account = hostIsNamed ? `${mailbox}\n${host}` : mailbox;
      // The browser comes first, because others may share its network.
      const pairs = [browserPairOf(account, browser), pairOf(account, client)];
      // Some servers overlook the detail of an address, and some the domain: a visitor could make up ever new ones.
      const local = mailbox.slice(0, mailbox.lastIndexOf('@') + 1);
      const counted = hostIsNamed ? `${likenessOf(local)}\n${host}` : likenessOf(mailbox);
      const admitted = await admit(signIn, counted, pairs);
      return async (outcome) => {
        if (outcome === 'wrong') return;
        await limits.giveBack(admitted.mailbox);
        if (outcome === 'unknown') return;
        await limits.giveBack(admitted.others);
        await rememberSome(signIn, pairs);
      };
    },

    recordBrowser: async (mailbox, browser) => {
      if ((await limits.takeAll([ofMailbox(mailbox)])) === 0)
        await known.remember(mailbox, [browserPairOf(mailbox, browser)]);
    },

    hasSignedIn: async (mailbox, client, withinMs) =>
      (await known.among([pairOf(mailbox, client)], withinMs)).length > 0,

    purge: async () => {
      await purgeSlots(database, now());
      await known.purge();
      await work.purge();
    },
  };
}

function ofMailbox(mailbox: string): Count {
  return ['visitors remembered at a mailbox', likenessOf(mailbox)];
}

/** Anyone who has one IPv6 /64 often has thousands of them, so IPv6 sites are /48s. */
function siteOf(client: string): string {
  return client.includes(':') ? client.split(':').slice(0, 3).join(':') : client;
}

function pricesOf(account: string, host: string): readonly [Count, Count] {
  return [
    ['price of a mailbox', account],
    ['price of a host', host],
  ];
}
