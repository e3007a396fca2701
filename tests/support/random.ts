export type Random = <Item>(items: readonly Item[]) => Item;

/** A repeatable choice among items (mulberry32). */
export function randomOf(seed: number): Random {
  let state = seed;
  return (items) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    const picked = items[((mixed ^ (mixed >>> 14)) >>> 0) % items.length];
    if (picked === undefined) throw new RangeError('Nothing to choose from.');
    return picked;
  };
}
