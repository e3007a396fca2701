import { randomBytes } from 'node:crypto';
import type { Database } from '../store/database.ts';
import type { Vault } from '../store/vault.ts';

/** Longer than anybody is on the way from the sign-in to the submit: all that it opens is the pre-move call. */
export const SESSION_MS = 24 * 3_600_000;

/** What a mailbox's owner is given after signing in. */
export type Sessions = {
  /**
   * Ends the earlier ones of the same browser.
   * @param browser what the cookie of the browser that signed in holds.
   * @returns an opaque token of 256 random bits, good for a day; only its digest is stored.
   */
  begin(mailbox: string, browser: string): Promise<string>;
  isValid(token: string): Promise<boolean>;
  /** Whether the token was given to who signed in to this mailbox. */
  isOf(token: string, mailbox: string): Promise<boolean>;
  /** Whether this browser has signed in to the mailbox, within a day. */
  isOfBrowser(browser: string, mailbox: string): Promise<boolean>;
  /** Ends what a token opens, by itself and in the browser that was given it. */
  end(token: string): Promise<void>;
  /** Ends every sign-in of a browser, and the tokens that it was given. */
  endOfBrowser(browser: string): Promise<void>;
  purge(): Promise<void>;
};

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
  return {
    begin: async (mailbox, browser) => {
      const token = randomBytes(32).toString('hex');
      await database.transaction(async (sql) => {
        await sql.query('delete from sessions where browser = $1', [browserOf(browser)]);
        await sql.query('insert into sessions (token, mailbox, expires, browser) values ($1, $2, $3, $4)', [
          vault.digest('session', token),
          vault.digest('session mailbox', mailbox),
          now() + SESSION_MS,
          browserOf(browser),
        ]);
      });
      return token;
    },
    isValid: async (token) => {
      const rows = await database.query('select 1 from sessions where token = $1 and expires > $2', [
        vault.digest('session', token),
        now(),
      ]);
      return rows.length > 0;
    },
    isOf: async (token, mailbox) => {
      const rows = await database.query('select 1 from sessions where token = $1 and mailbox = $2 and expires > $3', [
        vault.digest('session', token),
        vault.digest('session mailbox', mailbox),
        now(),
      ]);
      return rows.length > 0;
    },
    isOfBrowser: async (browser, mailbox) => {
      const rows = await database.query('select 1 from sessions where browser = $1 and mailbox = $2 and expires > $3', [
        browserOf(browser),
        vault.digest('session mailbox', mailbox),
        now(),
      ]);
      return rows.length > 0;
    },
    end: async (token) => {
      await database.query('delete from sessions where token = $1', [vault.digest('session', token)]);
    },
    endOfBrowser: async (browser) => {
      await database.query('delete from sessions where browser = $1', [browserOf(browser)]);
    },
    purge: async () => {
      await database.query('delete from sessions where expires <= $1', [now()]);
    },
  };
}
