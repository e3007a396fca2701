import type { Stream, Work } from './lane-work.ts';

/** An item of the main work, or of the work beside it. */
export type Task<First, Other> =
  | { readonly kind: 'first'; readonly item: First }
  | { readonly kind: 'other'; readonly item: Other };

/** `done` is to be called when one of the first ones has been worked on, however that went. */
export type Meanwhile<First, Other> = Work<Task<First, Other>> & { readonly done: (item: First) => void };

/**
 * Items for lanes and, while the last of them are worked on, other work for the lanes that have none. It ends with the
 * items; other work that is left then stays undone.
 * @param mayTake whether lanes can do the other work at all
 * @param giveBack puts an item that is given back among those that wait, or elsewhere; returns whether it is behind
 *   others
 */
export function meanwhile<First, Other>(
  items: readonly First[],
  others: Stream<Other>,
  mayTake: () => boolean,
  giveBack: (item: First, waiting: First[]) => boolean,
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
      if (task.kind === 'other') return others.giveBack(task.item);
      underWay.delete(task.item);
      const isBehind = giveBack(task.item, waiting);
      tell();
      return isBehind;
    },
    done: (item) => {
      underWay.delete(item);
      tell();
    },
  };
}
