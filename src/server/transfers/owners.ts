import type { Database, Sql } from '../store/database.ts';
import type { Vault } from '../store/vault.ts';

/**
 * How many browsers may own a transfer. Each order without a cookie adds a new one; beyond these, a browser owns it
 * only while signed in.
 */
export const BROWSERS_AT_MOST = 200;

/** Who owns a transfer: the browsers that ordered it, and the owner of the mailbox that it reads from. */
export type Owners = {
  /** @param browser the key in the browser's cookie; only its digest is stored, until the transfer is erased. */
  add(transferId: string, browser: string): Promise<void>;
  has(transferId: string, browser: string): Promise<boolean>;
  /** The address of the source mailbox; `null` if there is no such transfer. */
  mailboxOf(transferId: string): Promise<string | null>;
};

export function openOwners({ database, vault }: { readonly database: Database; readonly vault: Vault }): Owners {
  return {
    add: async (transferId, browser) => {
      await database.query(
        `insert into transfer_browsers (transfer_id, browser) select $1, $2
         where (select count(*) from transfer_browsers where transfer_id = $1) < $3 on conflict do nothing`,
        [transferId, digestOf(vault, browser), BROWSERS_AT_MOST],
      );
    },
    has: async (transferId, browser) => {
      const rows = await database.query(
        'select 1 from transfer_browsers where transfer_id = $1 and browser = any($2)',
        [transferId, vault.digests('transfer browser', browser)],
      );
      return rows.length > 0;
    },
    mailboxOf: async (transferId) => {
      const [row] = await database.query<{ email: string }>(
        'select source_email as email from transfers where id = $1',
        [transferId],
      );
      return row?.email ?? null;
    },
  };
}

/** Makes a browser's new key an owner of everything that its former one owns. */
export async function copyBrowser(sql: Sql, vault: Vault, former: string, key: string): Promise<void> {
  await sql.query(
    `insert into transfer_browsers (transfer_id, browser)
     select distinct transfer_id, $2 from transfer_browsers where browser = any($1) on conflict do nothing`,
    [vault.digests('transfer browser', former), digestOf(vault, key)],
  );
  // An answer may be lost, so the former key stays as well, as long as there is room.
  await sql.query(
    `delete from transfer_browsers as former where browser = any($1)
     and (select count(*) from transfer_browsers as each where each.transfer_id = former.transfer_id) > $2`,
    [vault.digests('transfer browser', former), BROWSERS_AT_MOST],
  );
}

/** Makes the owners of one transfer owners of another one, too. */
export async function copyOwners(sql: Sql, from: string, to: string): Promise<void> {
  await sql.query(
    'insert into transfer_browsers (transfer_id, browser) select $2, browser from transfer_browsers where transfer_id = $1',
    [from, to],
  );
}

function digestOf(vault: Pick<Vault, 'digest'>, browser: string): string {
  return vault.digest('transfer browser', browser);
}
