import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The data folder can't be used: it can't be written, or another process has it. The message is for the operator. */
export class DataFolderError extends Error {
  override name = 'DataFolderError';
}

/** The folder of the embedded defaults, held by this process alone: PGlite has no lock of its own and loses rows to a second one. */
export type DataFolder = AsyncDisposable & {
  readonly path: string;
  /** The generated `SECRET_KEY`, made on first use; readable by its owner only. */
  secretKey(): Promise<Buffer>;
};

/** @throws {DataFolderError} */
export async function holdDataFolder(path: string): Promise<DataFolder> {
  const lock = join(path, 'lock');
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await takeLock(lock, path);
  } catch (error) {
    if (error instanceof DataFolderError) throw error;
    throw new DataFolderError(
      `DATA_DIR ${path} can't be written (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}). Make it writable, or name another folder. Example: DATA_DIR=/var/lib/portal`,
      { cause: error },
    );
  }
  return {
    path,
    secretKey: () => secretKeyIn(path),
    [Symbol.asyncDispose]: () => rm(lock, { force: true }),
  };
}

async function takeLock(lock: string, path: string): Promise<void> {
  for (let attempt = 0; attempt < 3; attempt += 1) {
    try {
      await using file = await open(lock, 'wx', 0o600);
      await file.writeFile(`${process.pid} ${await startOf(process.pid)}\n`);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const [pid, started] = (await readFile(lock, 'utf8').catch(() => '')).trim().split(' ');
    if (pid !== undefined && pid !== '' && (await isRunning(Number(pid), started)))
      throw new DataFolderError(
        `DATA_DIR ${path} is in use by process ${pid}. Stop that one first, or name another folder. Example: DATA_DIR=.data-2`,
      );
    await rm(lock, { force: true });
  }
  throw new DataFolderError(`DATA_DIR ${path} is in use by another process that is starting.`);
}

async function isRunning(pid: number, started: string | undefined): Promise<boolean> {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return started === (await startOf(pid));
}

/** Tells a process from a later one with the same number: its start in clock ticks (proc(5), field 22); `-` where there is no /proc. */
async function startOf(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '-';
}

async function secretKeyIn(path: string): Promise<Buffer> {
  const file = join(path, 'secret-key');
  try {
    await writeFile(file, `${randomBytes(32).toString('base64')}\n`, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const key = Buffer.from((await readFile(file, 'utf8')).trim(), 'base64');
  if (key.length !== 32)
    throw new DataFolderError(
      `${file} is damaged: it must hold 32 bytes in base64. Without it, stored credentials can't be read.`,
    );
  return key;
}
