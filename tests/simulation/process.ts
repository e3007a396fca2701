import type { Scheduler, Timer } from './scheduler.ts';

/**
 * What stops a process before its n-th effect on the outside, or its n-th write to the destination: for good, or for some
 * milliseconds (SIGSTOP, then SIGCONT).
 */
export type Stop = { readonly freezeFor?: number } & ({ readonly atEffect: number } | { readonly atWrite: number });

/**
 * One worker process. All that it does to the outside passes `effect`, all that comes to it passes `deliver`, so it can
 * die or freeze between any two of them. What a frozen process still computes has, for it, the time of its thaw.
 */
export type SimulatedProcess = {
  readonly name: string;
  readonly alive: () => boolean;
  readonly effects: () => number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly effect: (label: string, run: () => void) => void;
  readonly deliver: (run: () => void) => void;
  readonly timer: (milliseconds: number, run: () => void) => Timer;
  readonly kill: () => void;
  readonly freeze: (milliseconds: number) => void;
  /** `stood` is how long it had stood still the last time, and `since` how long ago that was, in milliseconds. */
  readonly onDeath: (run: (last: { readonly stood: number; readonly since: number }) => void) => void;
  readonly onFreeze: (run: () => void) => void;
};

/** How the network names a write to the destination. */
const WRITE = 'writes to destination';

export function openProcess(scheduler: Scheduler, name: string, stops: readonly Stop[] = []): SimulatedProcess {
  let alive = true;
  let thaw: number | null = null;
  let effects = 0;
  let writes = 0;
  let heldEffects: (() => void)[] = [];
  let heldDeliveries: (() => void)[] = [];
  let last = { stood: 0, at: 0 };
  const deaths: ((last: { readonly stood: number; readonly since: number }) => void)[] = [];
  const freezes: (() => void)[] = [];
  const kill = () => {
    if (!alive) return;
    alive = false;
    heldEffects = [];
    heldDeliveries = [];
    scheduler.note(`${name} is killed`);
    for (const each of deaths) each({ stood: last.stood, since: scheduler.now() - last.at });
  };
  const freeze = (milliseconds: number) => {
    if (!alive || thaw !== null) return;
    thaw = scheduler.now() + milliseconds;
    scheduler.note(`${name} freezes for ${milliseconds}`);
    for (const each of freezes) each();
    scheduler.after(milliseconds, `${name} thaws`, () => {
      thaw = null;
      last = { stood: milliseconds, at: scheduler.now() };
      const outward = heldEffects;
      const inward = heldDeliveries;
      heldEffects = [];
      heldDeliveries = [];
      for (const run of outward) if (alive) run();
      for (const run of inward) deliver(run);
    });
  };
  const deliver = (run: () => void) => {
    if (!alive) return;
    if (thaw === null) run();
    else heldDeliveries.push(run);
  };
  const effect = (label: string, run: () => void) => {
    if (!alive) return;
    effects += 1;
    const isWrite = label.startsWith(WRITE);
    if (isWrite) writes += 1;
    for (const stop of stops)
      if ('atEffect' in stop ? stop.atEffect === effects : isWrite && stop.atWrite === writes) {
        if (stop.freezeFor === undefined) kill();
        else freeze(stop.freezeFor);
      }
    scheduler.note(`${name} ${effects} ${label}`);
    if (thaw !== null) heldEffects.push(run);
    else if (alive) run();
  };
  return {
    name,
    alive: () => alive,
    effects: () => effects,
    now: () => thaw ?? scheduler.now(),
    effect,
    deliver,
    timer: (milliseconds, run) => {
      let timer: Timer | null = null;
      let cancelled = false;
      const start = () => {
        timer = scheduler.after(milliseconds, `${name} timer`, () =>
          deliver(() => {
            if (!cancelled) run();
          }),
        );
      };
      if (thaw === null) start();
      else heldEffects.push(start);
      return {
        cancel: () => {
          cancelled = true;
          timer?.cancel();
        },
      };
    },
    kill,
    freeze,
    onDeath: (run) => {
      deaths.push(run);
    },
    onFreeze: (run) => {
      freezes.push(run);
    },
  };
}
