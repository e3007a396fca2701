import type { Fetched, MailReader } from '../../imap/streams.ts';
import type { Planned } from '../ledger/ledger.ts';
import type { Sizes } from '../run/sizes.ts';

/** How many FETCH commands are sent ahead of the one that is being read. */
const FETCHES_AHEAD = 2;

type Group = readonly Planned[];

/** Groups of messages of a source mailbox, requested ahead of their use. */
export type Fetches = {
  readonly groups: readonly Group[];
  /** The messages of the next group. A message that comes out of turn is left out. */
  next(): AsyncIterable<Fetched>;
  /**
   * Closes the connection if an answer on it has not been read to its end, since the rest would be in the way of the
   * next answer.
   */
  letGo(): Promise<void>;
};

type Options = Pick<Sizes, 'fetch'> & {
  /** Each group is asked for by itself. */
  readonly alone?: boolean;
};

/** Prepares the commands for groups of messages; with `alone` one for each group. Nothing is asked for yet. */
export function openFetches(
  groups: readonly Group[],
  reader: MailReader,
  path: string,
  { alone = false, fetch }: Options,
): Fetches {
  const commands = alone ? groups.map((group) => [group]) : togetherOf(groups, fetch);
  const waiting: Answer[] = [];
  let asked = 0;
  const ask = () => {
    for (const command of commands.slice(asked, asked + FETCHES_AHEAD - waiting.length)) {
      asked += 1;
      waiting.push(new Answer(command, reader, path));
    }
  };
  ask();
  let current: Answer | undefined;
  return {
    groups,
    next: () => {
      if (current === undefined || current.isOver) {
        current = waiting.shift();
        ask();
      }
      if (current === undefined) throw new RangeError('There are no more groups.');
      return current.next();
    },
    letGo: async () => {
      for (const answer of [current, ...waiting]) await answer?.letGo();
    },
  };
}

/** Groups that one command asks for. Servers answer by rising UID, so a group with lower UIDs begins a new command. */
function togetherOf(groups: readonly Group[], most: Sizes['fetch']): Group[][] {
  const commands: Group[][] = [];
  let [messages, octets, highest] = [0, 0, 0];
  for (const group of groups) {
    const size = group.reduce((sum, message) => sum + message.size, 0);
    const lowest = Math.min(...group.map(({ uid }) => uid));
    const isMore = messages + group.length > most.messages || octets + size > most.octets || lowest < highest;
    const last = commands.at(-1);
    if (last === undefined || isMore) {
      commands.push([group]);
      [messages, octets] = [0, 0];
    } else last.push(group);
    messages += group.length;
    octets += size;
    highest = Math.max(...group.map(({ uid }) => uid));
  }
  return commands;
}

/** The answer to one command, group by group. */
class Answer {
  readonly #groups: Group[];
  /** The UIDs of the groups that are still to come. */
  readonly #later: Set<number>;
  readonly #messages: AsyncIterator<Fetched>;
  /** The first message of a later group, if it has been read. */
  #ahead: Fetched | undefined;

  constructor(groups: readonly Group[], reader: MailReader, path: string) {
    const uids = groups.flatMap((group) => group.map(({ uid }) => uid));
    this.#groups = [...groups];
    this.#later = new Set(uids);
    this.#messages = reader.fetch(path, uids)[Symbol.asyncIterator]();
  }

  get isOver(): boolean {
    return this.#groups.length === 0;
  }

  next(): AsyncIterable<Fetched> {
    const uids = (this.#groups.shift() ?? []).map(({ uid }) => uid);
    for (const uid of uids) this.#later.delete(uid);
    return this.#messagesOf(new Set(uids));
  }

  async letGo(): Promise<void> {
    await this.#messages.return?.();
  }

  async *#messagesOf(wanted: Set<number>): AsyncGenerator<Fetched, void> {
    let isWhole = false;
    let last: Fetched | undefined;
    try {
      while (wanted.size > 0) {
        const message = this.#ahead ?? (await this.#take());
        if (message !== undefined && this.#later.has(message.uid)) {
          this.#ahead = message;
          break;
        }
        this.#ahead = undefined;
        if (message === undefined) break;
        // A message of an earlier group comes too late, and will be asked for again.
        if (!wanted.delete(message.uid)) continue;
        last = message;
        yield message;
      }
      // Octets of it that were not read would be in the way of the next answer.
      if (wanted.size === 0) await last?.octets[Symbol.asyncIterator]().return?.();
      isWhole = true;
      // An error ends the connection, which is reported to its next user.
      if (this.isOver) this.#passOver().catch(() => {});
    } finally {
      if (!isWhole) await this.letGo();
    }
  }

  /** Discards messages that come out of turn after the last group, which would be in the way as well. */
  async #passOver(): Promise<void> {
    while ((await this.#take()) !== undefined);
  }

  async #take(): Promise<Fetched | undefined> {
    const { done, value } = await this.#messages.next();
    return done === true ? undefined : value;
  }
}
