import type { Fetched, MailReader } from '../imap/streams.ts';
import type { Planned } from './ledger.ts';

/** FETCH commands that are sent before the one in front is read. */
const FETCHES_AHEAD = 2;

/** Groups of messages on their way out of a mailbox of the source, asked for ahead of whoever takes them. */
export type Fetches = {
  readonly groups: readonly (readonly Planned[])[];
  /** What was asked for of the next group; the ones behind it are asked for. */
  next(): AsyncIterable<Fetched>;
  /** What was asked for and is not read would stand in the way of the next answer: its connection is closed. */
  letGo(): Promise<void>;
};

export function openFetches(groups: readonly (readonly Planned[])[], reader: MailReader, path: string): Fetches {
  const waiting: AsyncIterable<Fetched>[] = [];
  let asked = 0;
  const ask = () => {
    for (const group of groups.slice(asked, asked + FETCHES_AHEAD - waiting.length)) {
      asked += 1;
      waiting.push(
        reader.fetch(
          path,
          group.map(({ uid }) => uid),
        ),
      );
    }
  };
  ask();
  return {
    groups,
    next: () => {
      const messages = waiting.shift();
      if (messages === undefined) throw new RangeError('There are no more groups.');
      ask();
      return messages;
    },
    letGo: async () => {
      for (const messages of waiting) await messages[Symbol.asyncIterator]().return?.();
    },
  };
}
