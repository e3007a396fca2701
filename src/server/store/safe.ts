import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SealError, type Vault } from './vault.ts';

const KEY_LENGTH = 32;

const nameOf = (place: string) => createHash('sha256').update(place).digest('hex');

/** Seals credentials until they are destroyed. */
export type Safe = {
  seal(place: string, secret: string): Promise<Buffer>;
  /** @throws {SealError} as {@link Vault} does, and once the place has been destroyed */
  open(place: string, sealed: Uint8Array): Promise<string>;
  /** Makes everything that was sealed at these places permanently unreadable. */
  destroy(...places: readonly string[]): Promise<void>;
  /** The same for all other places, since a killed process may have left some. */
  destroyAllBut(places: readonly string[]): Promise<void>;
};

/** The same secret, sealed with the current key; `null` if it can't be opened. */
export async function resealed(safe: Safe, place: string, sealed: Uint8Array): Promise<Buffer | null> {
  try {
    return await safe.seal(place, await safe.open(place, sealed));
  } catch (error) {
    if (error instanceof SealError) return null;
    throw error;
  }
}

/** For processes that share a PostgreSQL, where the vault's key is stored apart from what it has sealed. */
export function openSharedSafe(vault: Vault): Safe {
  return {
    seal: async (place, secret) => vault.seal(place, secret),
    open: async (place, sealed) => vault.open(place, sealed),
    destroy: async () => {},
    destroyAllBut: async () => {},
  };
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/**
 * For the embedded database, whose folder also holds the vault's key, and whose files and log keep deleted rows for a
 * while. Each place has a random key in a file of its own, without which the vault's key opens nothing.
 */
export async function openFolderSafe(vault: Vault, folder: string): Promise<Safe> {
  await mkdir(folder, { recursive: true, mode: 0o700 });

  let making: Promise<unknown> = Promise.resolve();

  async function keyOf(place: string): Promise<Buffer> {
    const key = await readFile(join(folder, nameOf(place))).catch((cause: NodeJS.ErrnoException) => {
      // Other errors, such as too many open files, don't mean that the key is lost.
      if (cause.code !== 'ENOENT') throw cause;
      throw new SealError(`The key of ${place} is gone.`, { cause });
    });
    if (key.length !== KEY_LENGTH) throw new SealError(`The key of ${place} is damaged.`);
    return key;
  }

  /** Creates the key of a place, unless it has one. The file only appears under its final name once it is complete. */
  async function makeKey(place: string): Promise<Buffer> {
    const path = join(folder, nameOf(place));
    if (await isThere(path)) return keyOf(place);
    const draft = `${path}.${randomUUID()}`;
    {
      await using file = await open(draft, 'wx', 0o600);
      await file.write(randomBytes(KEY_LENGTH));
      await file.sync();
    }
    await rename(draft, path);
    return keyOf(place);
  }

  async function destroyFile(name: string): Promise<void> {
    const path = join(folder, name);
    try {
      await using file = await open(path, 'r+');
      await file.write(Buffer.alloc(KEY_LENGTH), 0, KEY_LENGTH, 0);
      await file.sync();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    await rm(path, { force: true });
  }

  return {
    seal: async (place, secret) => {
      // One at a time: otherwise two calls could each create a key for the same place.
      const key = making.then(() => makeKey(place));
      making = key.catch(() => null);
      return vault.seal(place, secret, await key);
    },
    open: async (place, sealed) => vault.open(place, sealed, await keyOf(place)),
    destroy: async (...places) => {
      for (const place of places) await destroyFile(nameOf(place));
    },
    destroyAllBut: async (places) => {
      const kept = new Set(places.map(nameOf));
      for (const name of await readdir(folder)) if (!kept.has(name)) await destroyFile(name);
    },
  };
}
