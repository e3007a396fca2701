import { join } from 'node:path';
import type { DatabaseAddress } from '../../src/server/store/database.ts';
import { openFolderSafe, openSharedSafe, type Safe } from '../../src/server/store/safe.ts';
import type { Vault } from '../../src/server/store/vault.ts';

/** The safe as the product's start opens it: with keys beside an embedded database that lies on the disk. */
export async function safeFor(address: DatabaseAddress, vault: Vault): Promise<Safe> {
  return 'folder' in address && address.folder !== 'memory://'
    ? openFolderSafe(vault, join(address.folder, '../keys'))
    : openSharedSafe(vault);
}
