import type { AnyStateNode } from 'xstate';
import type { wizardMachine } from '../../machines/wizard.machine.ts';
import { nameOf, nodesOf } from './transitions.ts';

type Outcome = (args: never, params: never) => boolean;
/** A guard of a transition: a name, a name with parameters, or a combination of others by `and`, `or` and `not`. */
type Guard =
  | string
  | { readonly type: string; readonly params?: unknown }
  | ((() => boolean) & { readonly check?: Check; readonly guards?: readonly Guard[] });
type Check = (snapshot: unknown, args: unknown, guard: unknown) => boolean;
type Guarded = { guard?: Guard };

/** Both outcomes of every guard that the machine declares, by name, and at each place where it is part of another. */
export function outcomesOf(machine: typeof wizardMachine): Set<string> {
  const names = Object.keys(machine.implementations.guards);
  const sites = guardedOf(machine.root).flatMap((transition) => partsOf(transition.guard, nameOf(transition)));
  return new Set([...names, ...sites.map(({ site }) => site)].flatMap((name) => [`${name}: true`, `${name}: false`]));
}

/** Records each outcome of the machine's guards in `seen`. This modifies the machine's transitions, so pass a copy. */
export function watchGuards(machine: typeof wizardMachine, seen: Set<string>): typeof wizardMachine {
  const guards = machine.implementations.guards as unknown as Readonly<Record<string, Outcome>>;
  const watched = Object.fromEntries(Object.entries(guards).map(([name, guard]) => [name, noting(guard, name, seen)]));
  const own = machine.provide({ guards: watched });
  for (const transition of guardedOf(own.root)) {
    const { guard } = transition;
    if (isComposite(guard)) (transition as Guarded).guard = watchParts(guard, nameOf(transition), watched, seen);
  }
  return own;
}

function noting(guard: Outcome, name: string, seen: Set<string>): Outcome {
  return (args, params) => {
    const outcome = guard(args, params);
    seen.add(`${name}: ${outcome}`);
    return outcome;
  };
}

type Composite = Extract<Guard, () => boolean> & { readonly guards: readonly Guard[] };

function isComposite(guard: Guard | undefined): guard is Composite {
  return typeof guard === 'function' && guard.guards !== undefined;
}

function guardedOf(root: AnyStateNode) {
  return nodesOf(root)
    .flatMap((node) => [...[...node.transitions.values()].flat(), ...(node.always ?? [])])
    .filter((transition) => isComposite(transition.guard as Guard | undefined))
    .map((transition) => transition as typeof transition & { readonly guard: Composite });
}

/** Every named guard within a composed one, and where it is. */
function partsOf(guard: Guard, place: string): { readonly site: string; readonly guard: Guard }[] {
  if (isComposite(guard)) return guard.guards.flatMap((part, at) => partsOf(part, `${place} .${at}`));
  return [{ site: `${place} ${typeof guard === 'string' ? guard : 'type' in guard ? guard.type : 'inline'}`, guard }];
}

function watchParts(guard: Guard, place: string, guards: Readonly<Record<string, Outcome>>, seen: Set<string>): Guard {
  if (isComposite(guard)) {
    const parts = guard.guards.map((part, at) => watchParts(part, `${place} .${at}`, guards, seen));
    return Object.assign(() => false, { ...(guard.check === undefined ? {} : { check: guard.check }), guards: parts });
  }
  const [{ site } = { site: place }] = partsOf(guard, place);
  if (typeof guard === 'function') {
    const { check } = guard;
    if (check === undefined) return noting(guard, site, seen) as never;
    const outcome = (snapshot: unknown) => noting((args: never) => check(snapshot, args, guard), site, seen);
    return Object.assign(() => false, {
      check: (snapshot: unknown, args: unknown) => outcome(snapshot)(args as never, undefined as never),
    });
  }
  const name = typeof guard === 'string' ? guard : guard.type;
  const given = typeof guard === 'string' ? undefined : guard.params;
  const outcome: Outcome = (args) => {
    const params = typeof given === 'function' ? (given as (args: unknown) => unknown)(args) : given;
    return guards[name]?.(args, params as never) ?? false;
  };
  return noting(outcome, site, seen) as never;
}
