import { once } from 'node:events';
import { DataFolderError, holdDataFolder } from '../../src/server/store/data-folder.ts';

/** A process that holds the given data folder until its input ends. It prints whether it could, or why not. */
try {
  // The garbage collector would let go of a lock that nobody refers to.
  await using _folder = await holdDataFolder(process.argv[2] ?? '');
  process.stdout.write(`${process.pid} held\n`);
  await once(process.stdin.resume(), 'end');
} catch (error) {
  if (!(error instanceof DataFolderError)) throw error;
  process.stdout.write(`${process.pid} ${error.message}\n`);
}
