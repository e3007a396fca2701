import type { FetchItems } from './fetch-response.ts';

/** Joins what a server tells of one message by several answers, if these come one after the other. */
export class Descriptions {
  /** What was said last, if it does not describe a message yet. */
  #said: FetchItems | undefined;
  /** The one that was described last: a further answer may tell more of it. */
  #last: FetchItems | undefined;

  /** @returns whether it tells more of the last one, which has it from then on */
  addsTo(items: FetchItems): boolean {
    const last = this.#last;
    if (last === undefined || last.uid !== items.uid || !tellsMore(items, last)) return false;
    this.#last = { ...items, ...last };
    return true;
  }

  /**
   * What is known of a message by now, if that describes it. Flags that somebody else has changed come with a UID too
   * (RFC 9051 §6.4.9); they describe nothing.
   */
  of(items: FetchItems): FetchItems | undefined {
    const all = this.#said !== undefined && this.#said.uid === items.uid ? { ...this.#said, ...items } : items;
    const describes = all.size !== undefined || all.internalDate !== undefined;
    this.#said = describes ? undefined : all;
    return describes ? all : undefined;
  }

  /** @param next the one of which more may be told now. @returns the one before, of which all has been told */
  follow(next?: FetchItems): FetchItems | undefined {
    const before = this.#last;
    this.#last = next;
    return before;
  }
}

/** Whether an answer says of a message what those before it have not said. */
function tellsMore(items: FetchItems, known: FetchItems): boolean {
  return (['size', 'internalDate', 'flags'] as const).some(
    (name) => known[name] === undefined && items[name] !== undefined,
  );
}
