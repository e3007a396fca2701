import { isBreak } from '../imap/mail-error.ts';
import type { Fetched, MailReader, Octets } from '../imap/streams.ts';
import type { Run } from './run.ts';
import { messagesOf } from './troubles.ts';

/**
 * Some servers hang up at a message each time. One at which connections broke so often among others is asked for alone,
 * after all others; and so often alone: it is left out.
 */
export const [BREAKS_TOGETHER, BREAKS_ALONE] = [2, 2];

export type Faults = Pick<Run, 'faults' | 'noteFault' | 'looked'>;
/** A mailbox that has been opened. */
export type Place = { readonly reader: MailReader; readonly path: string };
type Side = 'source' | 'destination';

/** How often what went wrong, by a name for it. */
export function openFaults(): Pick<Run, 'faults' | 'noteFault'> {
  const counts = new Map<string, number>();
  const faults = (name: string) => counts.get(name) ?? 0;
  const noteFault = (name: string) => {
    counts.set(name, faults(name) + 1);
    return faults(name);
  };
  return { faults, noteFault };
}

/** What a run counts the faults of a message by. */
export function messageName(side: Side, path: string, uid: number): string {
  return `${side} ${path} ${uid}`;
}

/** Whether a message is still asked for in this run: connections have not broken off at it too often. */
export function isReadable(side: Side, path: string, uid: number, run: Faults): boolean {
  return run.faults(messageName(side, path, uid)) < BREAKS_TOGETHER + BREAKS_ALONE;
}

/** Messages that may be asked for together, and the others: each alone. Those that are not asked for any more are in neither. */
export function readableOf(
  side: Side,
  path: string,
  uids: readonly number[],
  run: Faults,
): { readonly together: readonly number[]; readonly alone: readonly number[] } {
  const readable = uids.filter((uid) => isReadable(side, path, uid, run));
  const isSuspect = (uid: number) => run.faults(messageName(side, path, uid)) >= BREAKS_TOGETHER;
  return { together: readable.filter((uid) => !isSuspect(uid)), alone: readable.filter(isSuspect) };
}

/** Messages of a mailbox, without those at which connections break off each time. */
export async function* fetchReadable(
  side: Side,
  { reader, path }: Place,
  uids: readonly number[],
  run: Faults,
): AsyncIterable<Fetched> {
  const { together, alone } = readableOf(side, path, uids, run);
  for (const asked of [together, ...alone.map((uid) => [uid])])
    if (asked.length > 0) yield* notingBreaks(reader.fetch(path, asked), asked, [side, path], run);
}

/**
 * Passes on messages that were asked for, and notes where the connection breaks off: at the one that was coming, or at
 * the first that has not come. Within a message only when it is at the same octet as before: a line may break anywhere.
 */
export async function* notingBreaks(
  messages: AsyncIterable<Fetched>,
  uids: Iterable<number>,
  [side, path]: readonly [Side, string],
  run: Faults,
): AsyncIterable<Fetched> {
  const waiting = new Set(uids);
  const isAlone = waiting.size === 1;
  const note = (uid: number) => {
    const times = run.noteFault(messageName(side, path, uid));
    if (times === BREAKS_TOGETHER) run.noteFault(messagesOf(path));
    // What comes after it is tried as often again.
    if (times === BREAKS_TOGETHER || times === BREAKS_TOGETHER + BREAKS_ALONE) run.looked();
  };
  const noteWithin = (uid: number, octets: number) => {
    const name = messageName(side, path, uid);
    // It takes one time more to know the place.
    if (run.noteFault(`${name} within`) === 1) run.looked();
    if (run.noteFault(`${name} at ${octets}`) > 1) note(uid);
  };
  let isWithin = false;
  try {
    for await (const message of messages) {
      const { uid } = message;
      waiting.delete(uid);
      const octets = passing(message.octets, (error, before) => {
        isWithin = true;
        if (isBreak(error)) noteWithin(uid, before);
      });
      yield { ...message, octets };
    }
  } catch (error) {
    const [next] = waiting;
    if (!isWithin && next !== undefined && isBreak(error)) note(next);
    throw error;
  }
  // Some say NO to one that is asked for alone, and hang up after that.
  const [last] = waiting;
  if (last !== undefined && isAlone) note(last);
}

async function* passing(octets: Octets, broken: (error: unknown, before: number) => void): Octets {
  let size = 0;
  try {
    for await (const chunk of octets) {
      size += chunk.length;
      yield chunk;
    }
  } catch (error) {
    broken(error, size);
    throw error;
  }
}
