import { and, not, or, type AnyStateNode } from 'xstate';
import type { wizardMachine } from '../../machines/wizard.machine.ts';
import { DELAYS } from '../../machines/wizard.delays.ts';
import { wizard } from '../../machines/wizard.setup.ts';

type Machine = typeof wizardMachine;
type Config = Readonly<Record<string, unknown>>;
type Path = readonly (string | number)[];
/** A machine with one thing removed, and the state whose configuration that was in. */
export type Mutant = { readonly name: string; readonly node: string; readonly make: () => Machine };

/** Stands for a removed array entry or property. */
const NOTHING = Symbol('nothing');
/** A mutant in an endless loop fails with an error. */
const MICROSTEPS_AT_MOST = 200;

/** The configuration with another value at a path. Everything off that path is shared with the original. */
function replaced(config: unknown, [key, ...rest]: Path, value: unknown): unknown {
  if (key === undefined) return value;
  if (Array.isArray(config)) {
    const list: readonly unknown[] = config;
    return list.flatMap((item, index) => {
      if (index !== key) return [item];
      const next = replaced(item, rest, value);
      return next === NOTHING ? [] : [next];
    });
  }
  const { [key]: old, ...others } = config as Record<string, unknown>;
  const next = replaced(old, rest, value);
  return next === NOTHING ? others : { ...others, [key]: next };
}

type Combinator = { readonly name: string; readonly guards: readonly unknown[] };

/** `and`, `or` and `not` keep their operands; everything else is a guard of its own. */
function operandsOf(guard: unknown): readonly unknown[] | null {
  return typeof guard === 'function' && 'guards' in guard ? (guard as unknown as Combinator).guards : null;
}

/** A guard in a tree of `and`, `or` and `not`, and its path in it. */
type GuardAt = { readonly words: string; readonly guard: unknown; readonly path: readonly number[] };

function guardsIn(guard: unknown): GuardAt[] {
  const operands = operandsOf(guard);
  if (operands === null) return [{ words: wordsOf(guard), guard, path: [] }];
  const { name } = guard as Combinator;
  return operands.flatMap((operand, index) =>
    guardsIn(operand).map(({ words, guard: leaf, path }) => ({
      words: `${words} in ${name}`,
      guard: leaf,
      path: [index, ...path],
    })),
  );
}

/** The tree with another guard at a path. */
function withGuardAt(guard: unknown, [index, ...rest]: readonly number[], other: unknown): unknown {
  if (index === undefined) return other;
  const operands = operandsOf(guard) ?? [];
  return combined((guard as Combinator).name, operands.with(index, withGuardAt(operands[index], rest, other)));
}

function combined(name: string, operands: readonly unknown[]): unknown {
  switch (name) {
    case 'and':
      return and(operands as never);
    case 'or':
      return or(operands as never);
    case 'not':
      return not(operands[0] as never);
    default:
      throw new Error(`The library calls a combination of guards ${name}.`);
  }
}

function wordsOf(thing: unknown): string {
  if (typeof thing === 'string') return `"${thing}"`;
  if (typeof thing === 'function' && 'stateValue' in thing) return `in ${JSON.stringify(thing.stateValue)}`;
  const { type } = thing as { readonly type: string };
  return `"${type}"`;
}

function listed(one: unknown): readonly { readonly path: Path; readonly item: unknown }[] {
  if (one === undefined) return [];
  if (!Array.isArray(one)) return [{ path: [], item: one }];
  return one.map((item: unknown, index) => ({ path: [index], item }));
}

/** The transitions in a state's configuration, each with its path and the name of its event. */
function transitionsIn(config: Config): { readonly path: Path; readonly event: string; readonly item: unknown }[] {
  const found: { path: Path; event: string; item: unknown }[] = [];
  const add = (path: Path, event: string, value: unknown) => {
    for (const { path: end, item } of listed(value)) found.push({ path: [...path, ...end], event, item });
  };
  for (const kind of ['on', 'after'] as const)
    for (const [event, value] of Object.entries((config[kind] as Config | undefined) ?? {}))
      add([kind, event], kind === 'on' ? event : `after ${event}`, value);
  add(['always'], 'always', config['always']);
  for (const { path, item } of listed(config['invoke']))
    for (const end of ['onDone', 'onError'] as const)
      add(['invoke', ...path, end], `${end} of ${String((item as Config)['src'])}`, (item as Config)[end]);
  return found;
}

/**
 * Every mutation of a machine: without one action, with one guard always true or always false (also inside `and`, `or`
 * and `not`), without one delayed transition, and with one named delay twice as long.
 */
export function mutantsOf(machine: Machine): Mutant[] {
  const mutants: Mutant[] = [];
  const whole = machine.config as unknown as Config;

  const add = (node: AnyStateNode, name: string, path: Path, value: unknown) => {
    mutants.push({
      name: `${node.id}: ${name}`,
      node: node.id,
      make: () =>
        wizard.createMachine({
          ...(replaced(whole, path, value) as object),
          options: { maxIterations: MICROSTEPS_AT_MOST },
        } as never) as unknown as Machine,
    });
  };

  const visit = (node: AnyStateNode, config: Config, place: Path) => {
    const addActions = (words: string, path: Path, actions: unknown) => {
      for (const { path: end, item } of listed(actions))
        add(node, `${words} without ${wordsOf(item)}`, [...place, ...path, ...end], end.length === 0 ? [] : NOTHING);
    };
    for (const when of ['entry', 'exit'] as const) addActions(when, [when], config[when]);
    for (const { path, event, item } of transitionsIn(config)) {
      if (typeof item !== 'object' || item === null) continue;
      const { actions, guard } = item as Config;
      addActions(`${event} [${path.at(-1)}]`, [...path, 'actions'], actions);
      if (guard === undefined) continue;
      for (const { words, path: at } of guardsIn(guard))
        for (const outcome of [true, false])
          add(
            node,
            `${event} [${path.at(-1)}] as if ${words} were ${outcome}`,
            [...place, ...path, 'guard'],
            withGuardAt(guard, at, () => outcome),
          );
    }
    for (const delay of Object.keys((config['after'] as Config | undefined) ?? {}))
      add(node, `without the wait for ${delay}`, [...place, 'after', delay], NOTHING);
    for (const [key, inner] of Object.entries((config['states'] as Record<string, Config> | undefined) ?? {})) {
      const state = node.states[key];
      if (state === undefined) throw new Error(`The machine has no state ${key} in ${node.id}.`);
      visit(state, inner, [...place, 'states', key]);
    }
  };
  visit(machine.root, whole, []);

  for (const [name, ms] of Object.entries(DELAYS))
    mutants.push({
      name: `delays: ${name} twice as long`,
      node: machine.root.id,
      make: () => machine.provide({ delays: { [name]: 2 * ms } }),
    });
  return mutants;
}
