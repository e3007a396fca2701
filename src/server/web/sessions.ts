import { randomBytes } from 'node:crypto';
import type { Database } from '../store/database.ts';
import type { Vault } from '../store/vault.ts';
import { consentBrowserOf, moveConsents } from '../oauth/consent.ts';
import { copyBrowser } from '../transfers/owners.ts';

/** How long a sign-in lasts: longer than anybody takes from signing in to submitting. */
export const SESSION_MS = 24 * 3_600_000;
/** The precision with which the last use of a sign-in is recorded. */
const USED_WITHIN_MS = 60_000;
/** The most sign-ins that are listed. */
const LISTED = 20;

/** The caller's credentials. */
type Asker = { readonly bearer?: string; readonly browser: { readonly key?: string } };
/** Times are milliseconds since the epoch. */
export type SignIn = { readonly began: number; readonly used: number };

/** The sessions of mailbox owners who have signed in. */
export type Sessions = {
  /**
   * Starts a session, and ends the browser's earlier ones.
   * @param browser a new key for the browser's cookie, so that nobody who knows the former one shares the session (session
   * fixation); it owns what the former one does
   * @returns an opaque token of 256 random bits, valid for a day; only its digest is stored
   */
  begin(mailbox: string, browser: string, former?: string): Promise<string>;
  isValid(token: string): Promise<boolean>;
  /** Whether the token was issued for a sign-in to this mailbox. */
  isOf(token: string, mailbox: string): Promise<boolean>;
  /** Whether this browser has signed in to the mailbox within the last day. */
  isOfBrowser(browser: string, mailbox: string): Promise<boolean>;
  /** Ends the session of a token, for the token itself and for the browser that it was issued to. */
  end(token: string): Promise<void>;
  /** Ends every session of a browser, including its tokens. */
  endOfBrowser(browser: string): Promise<void>;
  /** Other browsers' most recently used sign-ins to the caller's mailbox; `null` if the caller isn't signed in. */
  others(asker: Asker): Promise<SignIn[] | null>;
  /**
   * Ends every sign-in to the caller's mailbox, including the caller's; with an address, only if it is the mailbox's.
   * @returns the browsers, by their names in {@link consentBrowserOf}; `null` if the caller isn't signed in.
   */
  endEverywhere(asker: Asker, mailbox?: string): Promise<string[] | null>;
  /**
   * Whether a page that shows this token may still have the password of a mailbox that was signed out of everywhere: a
   * session of the mailbox was ended so within the day that it would have lasted, and this one is none that has begun
   * since.
   */
  wasEndedEverywhere(token: string, mailbox: string): Promise<boolean>;
  purge(): Promise<void>;
};

/** SQL for whether a session has not ended `now`. One that would last much longer was noted by a clock that was ahead. */
const lasts = (now: string, until = 'expires') =>
  `${until} > ${now} and ${until} <= ${now}::float8 + ${2 * SESSION_MS}`;
/** SQL for whether a session would not have ended `now`, but was ended everywhere: such rows have a negative time. */
const wasEnded = (now: string) => lasts(now, '-expires');
/** SQL for whether a session was not ended so: the others are kept for their day, whoever signs in or out meanwhile. */
const STANDS = 'expires > 0';

/** The mailboxes that the caller is signed in to. */
const SHOWN = `select mailbox from sessions where ${lasts('$3')} and (token = $1::text or browser = $2::text)`;

export function openSessions({
  database,
  vault,
  now,
}: {
  readonly database: Database;
  readonly vault: Vault;
  readonly now: () => number;
}): Sessions {
  const browserOf = (browser: string) => vault.digest('session browser', browser);
  const shownBy = ({ bearer, browser }: Asker) => [
    bearer === undefined ? null : vault.digest('session', bearer),
    browser.key === undefined ? null : browserOf(browser.key),
    now(),
  ];

  /** Whether there is a matching session; if so, records that it was used. */
  async function isThere(condition: string, ...values: readonly string[]): Promise<boolean> {
    const rows = await database.query<{ token: string; used: number | null }>(
      `select token, used from sessions where ${condition} and ${lasts('$1')}`,
      [now(), ...values],
    );
    const stale = rows.filter(({ used }) => (used ?? 0) + USED_WITHIN_MS <= now());
    if (stale.length > 0)
      await database.query('update sessions set used = $1 where token = any($2)', [
        now(),
        stale.map(({ token }) => token),
      ]);
    return rows.length > 0;
  }

  return {
    begin: async (mailbox, browser, former) => {
      const token = randomBytes(32).toString('hex');
      await database.transaction(async (sql) => {
        if (former !== undefined) {
          await sql.query(`delete from sessions where browser = $1 and ${STANDS}`, [browserOf(former)]);
          await copyBrowser(sql, vault, former, browser);
          await moveConsents(sql, vault, former, browser);
        }
        await sql.query(
          'insert into sessions (token, mailbox, expires, browser, consent_browser) values ($1, $2, $3, $4, $5)',
          [
            vault.digest('session', token),
            vault.digest('session mailbox', mailbox),
            now() + SESSION_MS,
            browserOf(browser),
            consentBrowserOf(vault, browser),
          ],
        );
      });
      return token;
    },
    isValid: (token) => isThere('token = $2', vault.digest('session', token)),
    isOf: (token, mailbox) =>
      isThere('token = $2 and mailbox = $3', vault.digest('session', token), vault.digest('session mailbox', mailbox)),
    isOfBrowser: (browser, mailbox) =>
      isThere('browser = $2 and mailbox = $3', browserOf(browser), vault.digest('session mailbox', mailbox)),
    end: async (token) => {
      await database.query(`delete from sessions where token = $1 and ${STANDS}`, [vault.digest('session', token)]);
    },
    endOfBrowser: async (browser) => {
      await database.query(`delete from sessions where browser = $1 and ${STANDS}`, [browserOf(browser)]);
    },
    others: async (asker) => {
      const rows = await database.query<{ expires: number; used: number | null; own: boolean }>(
        `select expires, used, coalesce(token = $1::text or browser = $2::text, false) as own from sessions
         where ${lasts('$3')} and mailbox in (${SHOWN}) order by own desc, coalesce(used, expires - ${SESSION_MS}) desc limit ${LISTED}`,
        shownBy(asker),
      );
      if (rows.length === 0) return null;
      return rows
        .filter(({ own }) => !own)
        .map(({ expires, used }) => ({ began: expires - SESSION_MS, used: used ?? expires - SESSION_MS }));
    },
    endEverywhere: async (asker, mailbox) => {
      const rows = await database.query<{ consent_browser: string | null }>(
        `update sessions set expires = -expires
         where ${STANDS} and mailbox in (${SHOWN}) and ($4::text is null or mailbox = $4) returning consent_browser`,
        [...shownBy(asker), mailbox === undefined ? null : vault.digest('session mailbox', mailbox)],
      );
      return rows.length === 0 ? null : rows.flatMap(({ consent_browser: browser }) => browser ?? []);
    },
    wasEndedEverywhere: async (token, mailbox) => {
      const rows = await database.query(
        `select 1 from sessions where mailbox = $3 and ${wasEnded('$1')} and not exists (
           select 1 from sessions where mailbox = $3 and token = $2 and ${lasts('$1')}) limit 1`,
        [now(), vault.digest('session', token), vault.digest('session mailbox', mailbox)],
      );
      return rows.length > 0;
    },
    purge: async () => {
      await database.query(`delete from sessions where not (${lasts('$1')} or ${wasEnded('$1')})`, [now()]);
    },
  };
}
