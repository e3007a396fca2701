/** After this many comparisons other work gets a turn: a server may have any number of messages that are alike. */
const COMPARED_IN_A_TURN = 2000;

/**
 * Groups messages that are alike, and quickly finds the first of a group that is left, however many have been taken.
 */
export class Alike<Message> {
  readonly #left: ReadonlySet<Message>;
  /** Each group in reverse order. */
  readonly #groups: ReadonlyMap<string, Message[]>;
  #compared = 0;

  /** @param left those that have not been taken; whoever takes one deletes it there */
  constructor(left: ReadonlySet<Message>, likeness: (message: Message) => string) {
    this.#left = left;
    this.#groups = Map.groupBy(left, likeness);
    for (const group of this.#groups.values()) group.reverse();
  }

  first(likeness: string): Message | undefined {
    const group = this.#groups.get(likeness) ?? [];
    for (let last = group.at(-1); last !== undefined; last = group.at(-1)) {
      if (this.#left.has(last)) return last;
      group.pop();
    }
    return undefined;
  }

  /** The first that is left and fits. */
  async find(
    likeness: string,
    fits: (message: Message) => boolean,
    turn: () => Promise<void>,
  ): Promise<Message | undefined> {
    if (this.first(likeness) === undefined) return undefined;
    const group = this.#groups.get(likeness) ?? [];
    for (let at = group.length - 1; at >= 0; at -= 1) {
      const message = group[at];
      if (message !== undefined && this.#left.has(message) && fits(message)) return message;
      this.#compared += 1;
      if (this.#compared % COMPARED_IN_A_TURN === 0) await turn();
    }
    return undefined;
  }
}
