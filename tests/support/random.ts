export type Random = <Item>(items: readonly Item[]) => Item;

/** Repeatable pseudorandom numbers from 0 up to, but not including, 1 (mulberry32). */
export function fractionsOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** A repeatable choice among items. */
export function randomOf(seed: number): Random {
  const fraction = fractionsOf(seed);
  return (items) => {
    const picked = items[(fraction() * 4294967296) % items.length];
    if (picked === undefined) throw new RangeError('Nothing to choose from.');
    return picked;
  };
}
