/** Pseudorandom numbers that are the same at every start (mulberry32). */
export type Chance = {
  /** An integer from 0 up to, but not including, `limit`. */
  readonly below: (limit: number) => number;
  readonly pick: <T>(from: readonly T[]) => T;
  readonly oneIn: (times: number) => boolean;
  readonly bytes: (length: number) => Buffer;
};

export function chance(seed: string): Chance {
  let state = 0x9e3779b9;
  for (const byte of Buffer.from(seed)) state = Math.imul(state ^ byte, 0x85ebca6b) >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    const mixed = Math.imul(state ^ (state >>> 15), state | 1);
    const more = mixed ^ (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61));
    return (more ^ (more >>> 14)) >>> 0;
  };
  const below = (limit: number) => next() % limit;
  return {
    below,
    pick: <T>(from: readonly T[]): T => {
      const picked = from[below(from.length)];
      if (picked === undefined) throw new RangeError('There is nothing to pick from.');
      return picked;
    },
    oneIn: (times) => below(times) === 0,
    bytes: (length) => {
      const bytes = Buffer.alloc(length + 4);
      for (let at = 0; at < length; at += 4) bytes.writeUInt32LE(next(), at);
      return bytes.subarray(0, length);
    },
  };
}
