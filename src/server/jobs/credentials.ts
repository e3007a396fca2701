import * as v from 'valibot';
import { sealedCredentials } from '../store/transfers.ts';
import type { Sql } from '../store/database.ts';
import type { Vault } from '../store/vault.ts';

const Secret = v.union([
  v.object({ kind: v.literal('password'), password: v.string() }),
  v.object({ kind: v.literal('token'), tokenId: v.string() }),
]);
/** What a transfer may sign in with. */
export type Secret = v.InferOutput<typeof Secret>;

export type Role = 'source' | 'destination';

const placeOf = (transferId: string, role: Role) => `credentials/${transferId}/${role}`;

/** `null` for an account that needs none: a file. */
export function sealCredentials(
  vault: Vault,
  transferId: string,
  role: Role,
  account: { readonly password?: string; readonly tokenId?: string },
): Buffer | null {
  const { password, tokenId } = account;
  const secret: Secret | null =
    tokenId !== undefined ? { kind: 'token', tokenId } : password !== undefined ? { kind: 'password', password } : null;
  return secret === null ? null : vault.seal(placeOf(transferId, role), JSON.stringify(secret));
}

/** `null` when there is none, or none any more. */
export async function openCredentials(sql: Sql, vault: Vault, transferId: string, role: Role): Promise<Secret | null> {
  const sealed = await sealedCredentials(sql, transferId, role);
  return sealed === null ? null : v.parse(Secret, JSON.parse(vault.open(placeOf(transferId, role), sealed)));
}
