import { randomBytes } from 'node:crypto';
import type { Database } from './store/database.ts';
import type { Vault } from './store/vault.ts';

const SESSION_MS = 3_600_000;

/** What a mailbox's owner is given after signing in. */
export type Sessions = {
  /** @returns an opaque token of 256 random bits, good for one hour; only its digest is stored. */
  begin(mailbox: string): Promise<string>;
  isValid(token: string): Promise<boolean>;
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
  return {
    begin: async (mailbox) => {
      const token = randomBytes(32).toString('hex');
      await database.query('insert into sessions (token, mailbox, expires) values ($1, $2, $3)', [
        vault.digest('session', token),
        vault.digest('session mailbox', mailbox),
        now() + SESSION_MS,
      ]);
      return token;
    },
    isValid: async (token) => {
      const rows = await database.query('select 1 from sessions where token = $1 and expires > $2', [
        vault.digest('session', token),
        now(),
      ]);
      return rows.length > 0;
    },
    purge: async () => {
      await database.query('delete from sessions where expires <= $1', [now()]);
    },
  };
}
