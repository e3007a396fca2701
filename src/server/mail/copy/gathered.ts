/**
 * Collects what comes while a commit is under way, and commits it together. What follows a commit waits for it, but does
 * not fail with it.
 * @param nothing what there is to commit before anything has come
 * @returns what adds to it, and answers what the commit does that has it
 */
export function gathered<All, Answer>(
  nothing: () => All,
  commit: (all: All) => Promise<Answer>,
): (add: (all: All) => void) => Promise<Answer> {
  let waiting = nothing();
  let next: Promise<Answer> | undefined;
  let running: Promise<unknown> = Promise.resolve();
  return (add) => {
    add(waiting);
    next ??= (async () => {
      await running;
      const all = waiting;
      waiting = nothing();
      next = undefined;
      const committing = commit(all);
      running = committing.catch(() => {});
      return committing;
    })();
    return next;
  };
}
