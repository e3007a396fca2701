import type { Stream, Work } from './lanes.ts';

/** What is worked on first, or beside it. */
export type Task<First, Other> =
  | { readonly kind: 'first'; readonly item: First }
  | { readonly kind: 'other'; readonly item: Other };

/** `done` is told when one of the first ones has been worked on, however that went. */
export type Meanwhile<First, Other> = Work<Task<First, Other>> & { readonly done: (item: First) => void };

/**
 * Items for lanes and, while the last of them are worked on, other work for the lanes that have none. It ends with the
 * items; other work that is left then stays undone.
 * @param mayTake whether lanes can do the other work at all
 * @param giveBack takes an item that is given back, beside those that wait; without it it is the next one again
 */
export function meanwhile<First, Other>(
  items: readonly First[],
  others: Stream<Other>,
  mayTake: () => boolean,
  giveBack: (item: First, waiting: First[]) => void = (item, waiting) => waiting.unshift(item),
): Meanwhile<First, Other> {
  const waiting = [...items];
  const underWay = new Set<First>();
  let changed = Promise.withResolvers<true>();
  const tell = () => {
    changed.resolve(true);
    changed = Promise.withResolvers();
  };
  return {
    next: async () => {
      for (;;) {
        const item = waiting.shift();
        if (item !== undefined) {
          underWay.add(item);
          return { kind: 'first', item };
        }
        if (underWay.size === 0 || !mayTake()) return null;
        const other = others.take();
        if (other !== null) return { kind: 'other', item: other };
        if (!(await Promise.race([others.waits(), changed.promise]))) return null;
      }
    },
    waits: () => waiting.length > 0,
    length: () => waiting.length,
    giveBack: (task) => {
      if (task.kind === 'other') {
        others.giveBack(task.item);
        return;
      }
      underWay.delete(task.item);
      giveBack(task.item, waiting);
      tell();
    },
    done: (item) => {
      underWay.delete(item);
      tell();
    },
  };
}
