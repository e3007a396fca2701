import { template } from './fresh-database.ts';

/** What all files use is made once, before the first. */
export async function setup(): Promise<void> {
  await template();
}
