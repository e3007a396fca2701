import { setImmediate as turn } from 'node:timers/promises';
import type { ContactWriter } from './contact-store.ts';
import { MatchIndex } from './matching.ts';
import type { Sleep } from './web.ts';

/** In milliseconds: Google may show a contact only after a while. */
const LOOK_AGAIN_AFTER = 30_000;

/** Listed twice if any of these, which may have been written, is not there at first. */
export async function indexWith(
  written: readonly string[],
  { writer, sleep, signal }: { readonly writer: ContactWriter; readonly sleep: Sleep; readonly signal: AbortSignal },
  uids: ReadonlySet<string>,
): Promise<MatchIndex> {
  const index = await indexOf(writer, uids, signal);
  if (written.every((uid) => index.ofUid(uid) !== null)) return index;
  await sleep(LOOK_AGAIN_AFTER, signal);
  return indexOf(writer, uids, signal);
}

/** All that the destination has. @param uids of the source's contacts */
export async function indexOf(
  writer: ContactWriter,
  uids: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<MatchIndex> {
  const index = new MatchIndex(uids);
  for await (const existing of writer.existing(signal)) {
    index.add(existing);
    await turn();
  }
  return index;
}
