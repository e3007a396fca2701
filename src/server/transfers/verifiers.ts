import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { normalized } from '../normalized.ts';
import type { Database, Sql } from '../store/database.ts';
import { earlierTime } from '../store/earlier-time.ts';
import { openSharedSafe, resealed } from '../store/safe.ts';
import type { Vault } from '../store/vault.ts';

/** 32 MB and about a tenth of a second (OWASP Password Storage Cheat Sheet). */
const COST = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 };
const SALT_OCTETS = 16;
const HASH_OCTETS = 32;
/** A password is checked against this many of a mailbox's newest exports. */
const CHECKED_AT_MOST = 3;

/** Lets the owner of a mailbox sign in to an export after the mail server is gone. */
export type Verifiers = {
  /** Keeps a verifier until the export ends. */
  keep(transferId: string, email: string, password: string): Promise<void>;
  /** `null` if nothing is kept for the address. */
  check(email: string, password: string): Promise<boolean | null>;
  /** Deletes those of exports that have ended. */
  purge(): Promise<void>;
};

type Services = { readonly database: Database; readonly vault: Vault; readonly now: () => number };

const placeOf = (transferId: string) => `export_verifiers/${transferId}`;

/** SQL for exports that are still to come, because their transfer is running, or that have files to download. */
const LIVES = `exists (select 1 from transfers left join exports on exports.transfer_id = transfers.id
  where transfers.id = export_verifiers.transfer_id
    and ((transfers.finished is null and exports.finished is null) or (exports.finished is not null and exports.deleted is null and exports.expires > $1)))`;

/** For a change of `SECRET_KEY`: verifiers are looked up by a digest of the mailbox, which changes with the key. */
export async function resealVerifiers(sql: Sql, vault: Vault): Promise<void> {
  const rows = await sql.query<{ id: string; email: string; sealed: Uint8Array }>(
    `select transfer_id as id, source_email as email, sealed from export_verifiers join transfers on transfers.id = transfer_id`,
  );
  for (const { id, email, sealed } of rows) {
    const anew = await resealed(openSharedSafe(vault), placeOf(id), sealed);
    if (anew !== null)
      await sql.query('update export_verifiers set mailbox = $2, sealed = $3 where transfer_id = $1', [
        id,
        vault.digest('verifier mailbox', email),
        anew,
      ]);
  }
}

export function openVerifiers({ database, vault, now }: Services): Verifiers {
  let last: Promise<unknown> = Promise.resolve();

  /** One at a time, so that many simultaneous sign-ins don't exhaust the memory. */
  function hash(password: string, salt: Buffer): Promise<Buffer> {
    const next = last.then(
      () =>
        new Promise<Buffer>((resolve, reject) => {
          scrypt(normalized(password, 'NFC'), salt, HASH_OCTETS, COST, (error, key) => {
            if (error === null) resolve(key);
            else reject(error);
          });
        }),
    );
    last = next.catch(() => null);
    return next;
  }

  return {
    keep: async (transferId, email, password) => {
      const salt = randomBytes(SALT_OCTETS);
      const verifier = Buffer.concat([salt, await hash(password, salt)]).toString('base64');
      await database.query(
        `insert into export_verifiers (transfer_id, mailbox, sealed) values ($1, $2, $3)
         on conflict (transfer_id) do update set sealed = excluded.sealed`,
        [transferId, vault.digest('verifier mailbox', email), vault.seal(placeOf(transferId), verifier)],
      );
    },
    check: async (email, password) => {
      const rows = await database.query<{ id: string; sealed: Uint8Array }>(
        `select transfer_id as id, sealed from export_verifiers join transfers on transfers.id = transfer_id
         where mailbox = $2 and ${LIVES} order by transfers.created desc limit ${CHECKED_AT_MOST}`,
        [new Date(now()), vault.digest('verifier mailbox', email)],
      );
      if (rows.length === 0) return null;
      let right = false;
      for (const { id, sealed } of rows) {
        const kept = Buffer.from(vault.open(placeOf(id), sealed), 'base64');
        const key = await hash(password, kept.subarray(0, SALT_OCTETS));
        right ||= timingSafeEqual(key, kept.subarray(SALT_OCTETS));
      }
      return right;
    },
    purge: async () => {
      const at = await earlierTime(database, now);
      await database.query(`delete from export_verifiers where not ${LIVES}`, [new Date(at)]);
    },
  };
}
