import { createReadStream } from 'node:fs';
import { chmod, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { FileGoneError, StoreError, type ExportStore } from './export-store.ts';

/** Exports in a folder, on the same disk as unfinished ones. */
export function openFolderStore(root: string): ExportStore {
  const moveIn = async (exportName: string, name: string, file: string) => {
    const folder = join(root, exportName);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(file, 0o400);
    await rename(file, join(folder, name));
    for (const changed of [folder, root]) {
      await using handle = await open(changed, 'r');
      await handle.sync();
    }
  };
  const remove = (exportName: string, name = '') => rm(join(root, exportName, name), { recursive: true, force: true });
  return {
    staging: join(root, '.staging'),
    put: (exportName, name, file) => moveIn(exportName, name, file).catch(unusable),
    read: async (exportName, name, range, signal) => {
      const handle = await open(join(root, exportName, name), 'r').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') throw new FileGoneError(name, { cause: error });
        return unusable(error);
      });
      try {
        // Somebody has truncated it.
        if ((await handle.stat()).size <= range.end) throw new FileGoneError(name);
      } catch (error) {
        await handle.close();
        throw error;
      }
      const stream = createReadStream('', { fd: handle, ...range, signal, highWaterMark: 256 * 1024 });
      return Readable.toWeb(stream, { strategy: { highWaterMark: 0 } }) as ReadableStream<Uint8Array>;
    },
    remove: (exportName, name) => remove(exportName, name).catch(unusable),
    prune: async (exportName, kept) => {
      const names = await readdir(join(root, exportName)).catch((error: NodeJS.ErrnoException) =>
        error.code === 'ENOENT' ? [] : unusable(error),
      );
      if (names.length === 0) return;
      const wanted = await kept();
      for (const name of names) if (!wanted.has(name)) await remove(exportName, name).catch(unusable);
    },
  };
}

function unusable(error: unknown): never {
  throw new StoreError('The folder of the exports can not be used.', { cause: error });
}
