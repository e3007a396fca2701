/**
 * Collects what arrives while a commit is under way, and commits it together afterwards. A commit waits for the one
 * before it, but does not fail with it.
 * @param nothing makes an empty collection
 * @returns adds to the collection, and answers as the commit does that contains the addition
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
