import { join } from 'node:path';
import { openFolderSafe, openSharedSafe, type Safe } from '../../src/server/store/safe.ts';
import type { Vault } from '../../src/server/store/vault.ts';
import type { TestAddress } from './fresh-database.ts';

/** The safe as the product opens it at its start: for an embedded database on disk, with keys next to it. */
export async function safeFor(address: TestAddress, vault: Vault): Promise<Safe> {
  return typeof address === 'object' && 'folder' in address
    ? openFolderSafe(vault, join(address.folder, '../keys'))
    : openSharedSafe(vault);
}
