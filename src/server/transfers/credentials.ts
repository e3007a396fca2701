import * as v from 'valibot';
import type { Sql } from '../store/database.ts';
import { resealed, type Safe } from '../store/safe.ts';
import { SealError } from '../store/vault.ts';
import type { Transfer } from './transfer.ts';

const Secret = v.union([
  v.object({ kind: v.literal('password'), password: v.string() }),
  v.object({ kind: v.literal('token'), tokenId: v.string() }),
]);
/** A transfer's credential for one account. */
export type Secret = v.InferOutput<typeof Secret>;

/** What is sealed: with the accounts that it is for, which earlier versions left out. */
const Sealed = v.intersect([Secret, v.object({ accounts: v.optional(v.string()) })]);
type Sealed = v.InferOutput<typeof Sealed>;

export const ROLES = ['source', 'destination'] as const;
export type Role = (typeof ROLES)[number];

const placeOf = (transferId: string, role: Role) => `credentials/${transferId}/${role}`;

type Account = { readonly password?: string; readonly tokenId?: string };

/** A transfer and the accounts between which it moves mail. */
export type Accounts = Pick<
  Transfer,
  'id' | 'sourceEmail' | 'destinationEmail' | 'destinationProvider' | 'destinationImap'
>;

function textOf({ sourceEmail, destinationEmail, destinationProvider: provider, destinationImap }: Accounts): string {
  // An export goes to no mailbox; the address that it was ordered with may be erased while it runs.
  const destination = provider === 'file_export' ? [] : [destinationEmail, destinationImap ?? null];
  return JSON.stringify([sourceEmail, provider, ...destination]);
}

/** Seals the credentials of both accounts; an export needs none for its destination. */
export async function sealOrder(
  safe: Safe,
  transfer: Accounts,
  order: { readonly [role in Role]: Account },
): Promise<{ readonly role: Role; readonly secret: Buffer }[]> {
  const sealed = [];
  for (const role of ROLES) {
    const secret = secretOf(order[role]);
    if (secret !== null) sealed.push({ role, secret: await sealCredential(safe, transfer, role, secret) });
  }
  return sealed;
}

/** Seals the credential for one side of a transfer, for {@link insertCredentials}. */
export function sealCredential(safe: Safe, transfer: Accounts, role: Role, secret: Secret): Promise<Buffer> {
  return sealSecret(safe, placeOf(transfer.id, role), secret, transfer);
}

/**
 * @param place where the secret is stored; it can't be opened for any other place
 * @param accounts it can be used for no others: whoever can write to the database can't have it taken to their server
 */
export function sealSecret(safe: Safe, place: string, secret: Secret, accounts: Accounts): Promise<Buffer> {
  const sealed: Sealed = { ...secret, accounts: textOf(accounts) };
  return safe.seal(place, JSON.stringify(sealed));
}

/** @throws {SealError} also when it was sealed for other accounts */
export async function openSecret(safe: Safe, place: string, sealed: Uint8Array, accounts: Accounts): Promise<Secret> {
  const { accounts: sealedFor = textOf(accounts), ...secret } = await openWhole(safe, place, sealed);
  if (sealedFor !== textOf(accounts)) throw new SealError('This was sealed for other accounts.');
  return secret;
}

async function openWhole(safe: Safe, place: string, sealed: Uint8Array): Promise<Sealed> {
  return v.parse(Sealed, JSON.parse(await safe.open(place, sealed)));
}

function secretOf({ password, tokenId }: Account): Secret | null {
  if (tokenId !== undefined) return { kind: 'token', tokenId };
  return password === undefined ? null : { kind: 'password', password };
}

/**
 * `null` if there is none, or it has been erased.
 * @throws {SealError}
 */
export async function openCredentials(sql: Sql, safe: Safe, transfer: Accounts, role: Role): Promise<Secret | null> {
  const sealed = await sealedCredentials(sql, transfer.id, role);
  return sealed === null ? null : openSecret(safe, placeOf(transfer.id, role), sealed, transfer);
}

/**
 * The same for credentials that are about to be erased or replaced, not used: if they can't be opened, they count as
 * absent.
 */
export async function credentialsIfAny(sql: Sql, safe: Safe, transferId: string, role: Role): Promise<Secret | null> {
  const sealed = await sealedCredentials(sql, transferId, role);
  if (sealed === null) return null;
  try {
    const { accounts: _, ...secret } = await openWhole(safe, placeOf(transferId, role), sealed);
    return secret;
  } catch (error) {
    if (error instanceof SealError) return null;
    throw error;
  }
}

/** @param sealed by {@link sealCredential} for this transfer and side */
export async function insertCredentials(sql: Sql, id: string, role: Role, sealed: Buffer): Promise<void> {
  await sql.query('insert into credentials (transfer_id, role, sealed) values ($1, $2, $3)', [id, role, sealed]);
}

async function sealedCredentials(sql: Sql, id: string, role: Role): Promise<Uint8Array | null> {
  const [row] = await sql.query<{ sealed: Uint8Array }>(
    'select sealed from credentials where transfer_id = $1 and role = $2',
    [id, role],
  );
  return row?.sealed ?? null;
}

/** Destroys the keys of a transfer's credentials. To be called once their rows are gone. */
export function destroyCredentials(safe: Safe, transferId: string): Promise<void> {
  return safe.destroy(...ROLES.map((role) => placeOf(transferId, role)));
}

/** The same for one side, once its row is gone or in the transaction that deletes it. */
export function destroyCredential(safe: Safe, transferId: string, role: Role): Promise<void> {
  return safe.destroy(placeOf(transferId, role));
}

/** Seals all credentials again after a change of `SECRET_KEY`. */
export function resealCredentials(sql: Sql, safe: Safe): Promise<void> {
  return resealRoles(sql, safe, 'credentials', placeOf);
}

/** Seals again what a table keeps for each role of a transfer. */
export async function resealRoles(
  sql: Sql,
  safe: Safe,
  table: 'credentials' | 'daily_credentials',
  placeIn: (transferId: string, role: Role) => string,
): Promise<void> {
  const rows = await sql.query<{ id: string; role: Role; sealed: Uint8Array }>(
    `select transfer_id as id, role, sealed from ${table}`,
  );
  for (const { id, role, sealed } of rows) {
    const anew = await resealed(safe, placeIn(id, role), sealed);
    if (anew !== null)
      await sql.query(`update ${table} set sealed = $3 where transfer_id = $1 and role = $2`, [id, role, anew]);
  }
}

/** The places in the safe that currently have credentials. */
export async function placesOfCredentials(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ transfer_id: string; role: Role }>('select transfer_id, role from credentials');
  return rows.map(({ transfer_id: id, role }) => placeOf(id, role));
}
