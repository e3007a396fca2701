/**
 * Events of one turn of the real event loop, each an immediate of its own: promises and `nextTick` come between them. What
 * waits for an immediate, a real timer or another thread comes so many events late: nothing that is simulated may. A turn
 * for each event would take a fifth longer.
 */
const EVENTS_A_TURN = 64;

/** When virtual time begins, for those who ask for a date. */
export const EPOCH = Date.UTC(2026, 0, 1);

type Event = { readonly time: number; readonly order: number; readonly label: string; run: (() => void) | null };

export type Timer = { cancel(): void };

/** `ended` when what was waited for came true, `stuck` when nothing was left to happen before that. */
export type Ending = 'ended' | 'stuck' | 'endless';

/**
 * Owns virtual time (milliseconds) and the order of everything that happens. Between two events all promises settle, so
 * that nothing depends on the real event loop.
 */
export type Scheduler = {
  now(): number;
  after(milliseconds: number, label: string, run: () => void): Timer;
  /** Runs events until `done`, or until there are none left, or `most` have run. */
  run(done: () => boolean, most: number): Promise<Ending>;
  note(line: string): void;
  /** What happened, line by line, if it is kept: two runs of one seed have the same. */
  readonly trace: readonly string[];
  readonly events: () => number;
};

export function openScheduler(options: { readonly keepsTrace: boolean } = { keepsTrace: false }): Scheduler {
  const heap: Event[] = [];
  const trace: string[] = [];
  let now = 0;
  let order = 0;
  let events = 0;
  const note = (line: string) => {
    if (options.keepsTrace) trace.push(`${now.toFixed(3)} ${line}`.trimEnd());
  };
  return {
    now: () => now,
    after: (milliseconds, label, run) => {
      const event: Event = { time: now + Math.max(0, milliseconds), order, label, run };
      order += 1;
      push(heap, event);
      return {
        cancel: () => {
          event.run = null;
        },
      };
    },
    run: (done, most) =>
      new Promise((resolve, reject) => {
        let count = 0;
        let isOver = false;
        const end = (ending: Ending) => {
          isOver = true;
          resolve(ending);
        };
        const step = () => {
          if (isOver) return;
          if (done()) return end('ended');
          if (count >= most) return end('endless');
          const event = nextOf(heap);
          if (event === undefined) return end('stuck');
          count += 1;
          now = event.time;
          events += 1;
          note(event.label);
          try {
            event.run?.();
          } catch (error) {
            isOver = true;
            reject(error);
          }
        };
        const turn = () => {
          if (isOver) return;
          for (let at = 0; at < EVENTS_A_TURN; at += 1) setImmediate(step);
          setImmediate(turn);
        };
        setImmediate(turn);
      }),
    note,
    trace,
    events: () => events,
  };
}

/** The next one that has not been called off. */
function nextOf(heap: Event[]): Event | undefined {
  for (;;) {
    const event = pop(heap);
    if (event === undefined || event.run !== null) return event;
  }
}

function before(a: Event, b: Event): boolean {
  return a.time < b.time || (a.time === b.time && a.order < b.order);
}

function push(heap: Event[], event: Event): void {
  let at = heap.length;
  heap.push(event);
  while (at > 0) {
    const up = (at - 1) >> 1;
    const parent = heap[up];
    if (parent === undefined || !before(event, parent)) break;
    heap[at] = parent;
    at = up;
  }
  heap[at] = event;
}

function pop(heap: Event[]): Event | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (first === undefined || last === undefined || heap.length === 0) return first;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    const left = heap[child];
    if (left === undefined) break;
    const right = heap[child + 1];
    let least = left;
    if (right !== undefined && before(right, left)) {
      child += 1;
      least = right;
    }
    if (!before(least, last)) break;
    heap[at] = least;
    at = child;
  }
  heap[at] = last;
  return first;
}
