import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SealError, type Vault } from './vault.ts';

const KEY_LENGTH = 32;

const nameOf = (place: string) => createHash('sha256').update(place).digest('hex');

/** Seals what a transfer signs in with, until it is destroyed. */
export type Safe = {
  seal(place: string, secret: string): Promise<Buffer>;
  /** @throws {SealError} as {@link Vault} does, and after the place was destroyed */
  open(place: string, sealed: Uint8Array): Promise<string>;
  /** Makes whatever was sealed at these places unreadable for ever. */
  destroy(...places: readonly string[]): Promise<void>;
  /** The same for all others: a process that was killed may have left some. */
  destroyAllBut(places: readonly string[]): Promise<void>;
};

/** The same, sealed with the key as it is now; `null` for what can't be opened. */
export async function resealed(safe: Safe, place: string, sealed: Uint8Array): Promise<Buffer | null> {
  try {
    return await safe.seal(place, await safe.open(place, sealed));
  } catch (error) {
    if (error instanceof SealError) return null;
    throw error;
  }
}

/** For processes on several machines that share a PostgreSQL: the vault's key lies apart from what it has sealed. */
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
 * For the embedded database, whose folder holds the vault's key as well, and which keeps deleted rows for a while in its
 * files and its log: each place has a random key of its own in a file, without which the vault's key opens nothing.
 */
export async function openFolderSafe(vault: Vault, folder: string): Promise<Safe> {
  await mkdir(folder, { recursive: true, mode: 0o700 });

  let making: Promise<unknown> = Promise.resolve();

  async function keyOf(place: string): Promise<Buffer> {
    const key = await readFile(join(folder, nameOf(place))).catch((cause: NodeJS.ErrnoException) => {
      // A disk or a process that is at its limits is no loss: the same may work later.
      if (cause.code !== 'ENOENT') throw cause;
      throw new SealError(`The key of ${place} is gone.`, { cause });
    });
    if (key.length !== KEY_LENGTH) throw new SealError(`The key of ${place} is damaged.`);
    return key;
  }

  /** The key of a place that has one already is that one. It appears under its name only when it is whole. */
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
      // One after another: two at once would each make a key for the same place.
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
