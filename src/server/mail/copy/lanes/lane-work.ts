/** Items that wait for a lane. An item that is given back is the next one again. */
export type Work<Item> = {
  /** `null` once there will be none any more. */
  next(): Item | null | Promise<Item | null>;
  /** Whether there is a next one, once that is known. */
  waits(): boolean | Promise<boolean>;
  /** How many wait now. */
  readonly length: () => number;
  /** @returns whether it is behind others now, so that the tries are counted anew */
  giveBack(item: Item): boolean;
};

export function workOf<Item>(items: readonly Item[]): Work<Item> {
  const waiting = [...items];
  return {
    next: () => waiting.shift() ?? null,
    waits: () => waiting.length > 0,
    length: () => waiting.length,
    giveBack: (item) => {
      waiting.unshift(item);
      return false;
    },
  };
}

/**
 * Splits items into batches, in their order: at most `most` in each, and, where there are enough, some for each lane.
 */
export function batchesOf<Item>(
  items: readonly Item[],
  { lanes, most }: { readonly lanes: number; readonly most: number },
): readonly (readonly Item[])[] {
  const size = Math.max(1, Math.min(most, Math.ceil(items.length / Math.max(1, lanes))));
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));
}

/** Items that come while others are worked on; `next` waits for them until it is ended. */
export type Stream<Item> = Work<Item> & {
  /** The next item, if one is waiting now. */
  take(): Item | null;
  push(item: Item): void;
  end(): void;
  /** Replaces the waiting items by others that have the same weight together. */
  replace(by: (waiting: readonly Item[]) => readonly Item[]): void;
  /** Resolves when what waits weighs no more than `to`, or when the stream has ended. */
  shrunk(to: number): Promise<void>;
};

type Weighing<Item> = {
  readonly weightOf: (item: Item) => number;
  /** Whether two are of one kind. An item is only joined to the last one of its kind: those before have no room. */
  readonly areAlike: (waiting: Item, item: Item) => boolean;
  /** Makes one item of two waiting ones of a kind; `null` when they stay apart. */
  readonly join: (waiting: Item, item: Item) => Item | null;
};

export function openStream<Item>({ weightOf, areAlike, join }: Weighing<Item>): Stream<Item> {
  const waiting: Item[] = [];
  const state = { ended: false, weight: 0 };
  let changed = Promise.withResolvers<void>();
  const tell = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const waits = async () => {
    while (waiting.length === 0 && !state.ended) await changed.promise;
    return waiting.length > 0;
  };
  const take = () => {
    const item = waiting.shift();
    if (item === undefined) return null;
    state.weight -= weightOf(item);
    tell();
    return item;
  };
  return {
    next: async () => {
      for (;;) {
        const item = take();
        if (item !== null || !(await waits())) return item;
      }
    },
    take,
    waits,
    giveBack: (item) => {
      waiting.unshift(item);
      state.weight += weightOf(item);
      tell();
      return false;
    },
    push: (item) => {
      state.weight += weightOf(item);
      const at = waiting.findLastIndex((before) => areAlike(before, item));
      const before = waiting[at];
      const joined = before === undefined ? null : join(before, item);
      if (joined !== null) {
        waiting[at] = joined;
        return;
      }
      waiting.push(item);
      tell();
    },
    end: () => {
      state.ended = true;
      tell();
    },
    replace: (by) => {
      waiting.push(...by(waiting.splice(0)));
      tell();
    },
    length: () => waiting.length,
    shrunk: async (to) => {
      while (state.weight > to && !state.ended) await changed.promise;
    },
  };
}
