import type { FetchItems } from './fetch-response.ts';

/** Joins what a server tells of one message in several FETCH responses, if these follow each other. */
export class Descriptions {
  /** The items of the last response, if they do not describe a message yet. */
  #said: FetchItems | undefined;
  /** The message that was described last: a further response may add to it. */
  #last: FetchItems | undefined;

  /** @returns whether the response adds to the last message; it is then merged into that */
  addsTo(items: FetchItems): boolean {
    const last = this.#last;
    if (last === undefined || last.uid !== items.uid || !tellsMore(items, last)) return false;
    this.#last = { ...items, ...last };
    return true;
  }

  /**
   * The items known of a message so far, if they describe it. Flags alone do not: changes by other clients also come
   * with a UID (RFC 9051 §6.4.9).
   */
  of(items: FetchItems): FetchItems | undefined {
    const all = this.#said !== undefined && this.#said.uid === items.uid ? { ...this.#said, ...items } : items;
    const describes = all.size !== undefined || all.internalDate !== undefined;
    this.#said = describes ? undefined : all;
    return describes ? all : undefined;
  }

  /**
   * @param next the message that further responses may add to
   * @returns the message before, which is complete now
   */
  follow(next?: FetchItems): FetchItems | undefined {
    const before = this.#last;
    this.#last = next;
    return before;
  }
}

/** Whether a response has items that those before it lacked. */
function tellsMore(items: FetchItems, known: FetchItems): boolean {
  return (['size', 'internalDate', 'flags'] as const).some(
    (name) => known[name] === undefined && items[name] !== undefined,
  );
}
