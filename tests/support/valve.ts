/** Lets octets through as they are granted, and holds back the rest. */
export function openValve() {
  const octets = { left: 0 };
  let granted = Promise.withResolvers<void>();
  return {
    grant: (more: number) => {
      octets.left += more;
      granted.resolve();
      granted = Promise.withResolvers();
    },
    /** Limits what has been granted so far to this many octets. */
    hold: (after: number) => {
      octets.left = after;
    },
    pass: async (_: unknown, part: Buffer) => {
      while (octets.left <= 0) await granted.promise;
      octets.left -= part.length;
      return part;
    },
  };
}
