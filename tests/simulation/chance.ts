import { fractionsOf } from '../support/random.ts';

/** All that is random in a simulation, repeatable by its seed. */
export type Chance = {
  /** From 0 up to 1. */
  readonly fraction: () => number;
  /** Both ends included. */
  readonly integer: (from: number, to: number) => number;
  readonly happens: (probability: number) => boolean;
  readonly one: <Item>(items: readonly Item[]) => Item;
  /** Few large numbers and many small ones, from 0 up to `most`. */
  readonly skewed: (most: number) => number;
  /** A source of its own, so that what one part draws does not change what another gets. */
  readonly fork: () => Chance;
};

export function chanceOf(seed: number): Chance {
  const fraction = fractionsOf(seed);
  const integer = (from: number, to: number) => from + Math.floor(fraction() * (to - from + 1));
  return {
    fraction,
    integer,
    happens: (probability) => fraction() < probability,
    one: (items) => {
      const picked = items[integer(0, items.length - 1)];
      if (picked === undefined) throw new RangeError('Nothing to choose from.');
      return picked;
    },
    skewed: (most) => most * fraction() ** 4,
    fork: () => chanceOf(integer(0, 4294967295)),
  };
}
