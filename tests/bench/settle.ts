import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../support/run.ts';

/** Where files are in memory. */
export const MEMORY = '/dev/shm';

/**
 * What was done before is not paid for by what is measured next: it goes to the disk first. A virtual machine has its
 * memory from its host, at the first touch: what is about to be needed is touched before.
 */
export async function settle(megabytes: number): Promise<void> {
  await run('sync', []);
  const touched = join(MEMORY, `touched-${process.pid}`);
  await run('dd', ['if=/dev/zero', `of=${touched}`, 'bs=1M', `count=${megabytes}`, 'status=none']);
  await rm(touched);
}
