import { randomBytes } from 'node:crypto';
import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeFolder } from './make-folder.ts';

/** The data folder can't be used: it isn't writable, or another process holds it. The message is for the operator. */
export class DataFolderError extends Error {
  override name = 'DataFolderError';
}

/** What the system says of a file in this folder, told to the operator; any other error as it is. */
export function faultIn(folder: string, error: unknown): unknown {
  const { code, path } = error as NodeJS.ErrnoException;
  if (!(error instanceof Error) || code === undefined || path === undefined) return error;
  if (!resolve(path).startsWith(resolve(folder) + sep)) return error;
  return new DataFolderError(
    `${path} can't be used (${code}). Everything in DATA_DIR must be this user's (after a start or "npm run erase" as root some of it is not), and its disk must have room.`,
    { cause: error },
  );
}

/**
 * The folder of the embedded defaults, locked by this process: PGlite has no lock of its own, and a second process
 * makes it lose rows.
 */
export type DataFolder = AsyncDisposable & {
  readonly path: string;
  /** The generated `SECRET_KEY`, created on first use and readable by its owner only. */
  secretKey(): Promise<Buffer>;
};

/** @throws {DataFolderError} */
export async function holdDataFolder(path: string): Promise<DataFolder> {
  try {
    await makeFolder(path);
    const lock = takeLock(join(path, 'held'));
    return {
      path,
      secretKey: () => secretKeyIn(path),
      [Symbol.asyncDispose]: async () => lock.close(),
    };
  } catch (error) {
    if (sqliteCodeOf(error) === SQLITE_BUSY)
      throw new DataFolderError(
        `DATA_DIR ${path} is in use by another process. Stop that one first, or name another folder. Example: DATA_DIR=.data-2`,
        { cause: error },
      );
    throw new DataFolderError(
      `DATA_DIR ${path} can't be written (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}). Make it writable, or name another folder. Example: DATA_DIR=/var/lib/portal`,
      { cause: error },
    );
  }
}

const SQLITE_BUSY = 5;
/** A killed process releases its lock when its last thread has ended, a moment after it looks dead. */
const LET_GO_WITHIN_MS = 1000;

/**
 * An advisory file lock, which SQLite takes and the kernel releases with this process, however it ends. Unlike a PID
 * file, it also works between containers that share the folder.
 */
function takeLock(file: string): DatabaseSync {
  const lock = new DatabaseSync(file, { timeout: LET_GO_WITHIN_MS });
  try {
    lock.exec('pragma journal_mode = memory; pragma locking_mode = exclusive; begin exclusive');
    return lock;
  } catch (error) {
    lock.close();
    throw error;
  }
}

function sqliteCodeOf(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : undefined;
}

async function secretKeyIn(path: string): Promise<Buffer> {
  const file = join(path, 'secret-key');
  try {
    await stat(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await makeKey(file);
  }
  const key = Buffer.from((await readFile(file, 'utf8')).trim(), 'base64');
  if (key.length !== 32)
    throw new DataFolderError(
      `${file} is damaged: it must hold 32 bytes in base64. Without it, stored credentials can't be read. Restore it from a backup of DATA_DIR, of which it is part.`,
    );
  return key;
}

/** The file only appears once it is complete: on a full disk, or after a power cut, there would be an empty one for good. */
async function makeKey(file: string): Promise<void> {
  const draft = `${file}.new`;
  try {
    await writeFile(draft, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flush: true });
    await rename(draft, file);
  } catch (error) {
    throw new DataFolderError(
      `${file} can't be written (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}). Make room there, and make it writable.`,
      { cause: error },
    );
  }
}
