import { mayBeOfAll, messageName, noteEndAtAnother, notePassed, type Faults, type Place } from './breaks.ts';

/*
 * A server that fails at one message fails at it each time, with nothing else left to be read in between. So another
 * message is read before it: if that passes, the account is well, and need not be waited for. If that fails, too, nobody
 * knows which of them is to blame, as it may have been damaged since, and no further one is read until something passes.
 */

/** A message of a {@link Place}; its size in octets. */
export type Sized = { readonly uid: number; readonly size: number };

/** Of two messages, the smaller one that is at least of this size; if none is, the larger one. */
export function nearerTo(size: number, one: Sized | undefined, other: Sized): Sized {
  if (one === undefined) return other;
  const isCloser = one.size < size ? other.size > one.size : other.size >= size && other.size < one.size;
  return isCloser ? other : one;
}

/**
 * Reads another message, if the server has failed at some and none has passed since. It is as large as the one that is
 * read next, if there is such a message.
 * @param others of this place that have been read before
 * @returns whether there was any, or none is needed
 * @throws {MailError} when the server fails at this one, too
 */
export async function readAnother(
  place: Place,
  { uid, size }: Sized,
  others: Iterable<Sized> | AsyncIterable<Sized>,
  run: Faults,
): Promise<boolean> {
  const { account, path, reader } = place;
  if (!mayBeOfAll(account, run)) return true;
  let nearest: Sized | undefined;
  for await (const other of others)
    if (other.uid !== uid && run.faults(messageName(place, other.uid)) === 0) nearest = nearerTo(size, nearest, other);
  if (nearest === undefined) return false;
  let hasPassed = false;
  try {
    for await (const { octets } of reader.fetch(path, [nearest.uid])) {
      for await (const _chunk of octets);
      hasPassed = true;
    }
  } catch (error) {
    if (reader.isOver) noteEndAtAnother(error, account, run);
    throw error;
  } finally {
    if (!hasPassed) run.noteFault(messageName(place, nearest.uid));
  }
  if (hasPassed) notePassed(account, run);
  return true;
}
