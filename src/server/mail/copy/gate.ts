/**
 * Lets many appends go on at once, but a search for a lost one only while none is under way: a message that is just
 * being appended, and has an equal twin, could be taken for the lost one.
 */
export type Gate = {
  pass<Result>(work: () => Promise<Result>): Promise<Result>;
  alone<Result>(work: () => Promise<Result>): Promise<Result>;
};

export function openGate(): Gate {
  const inside = new Set<Promise<unknown>>();
  let last: Promise<unknown> = Promise.resolve();
  return {
    pass: async (work) => {
      for (let seen; seen !== last;) {
        seen = last;
        await seen;
      }
      const running = work();
      const guarded = quietly(running);
      inside.add(guarded);
      try {
        return await running;
      } finally {
        inside.delete(guarded);
      }
    },
    alone: (work) => {
      const before = last;
      const running = before.then(async () => {
        await Promise.all(inside);
        return work();
      });
      last = quietly(running);
      return running;
    },
  };
}

function quietly(work: Promise<unknown>): Promise<unknown> {
  return work.catch(() => {});
}
