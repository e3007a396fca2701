import { and, type AnyStateMachine, type AnyStateNode, type AnyTransitionDefinition, not, stateIn } from 'xstate';
import { DELAYS } from '../../machines/wizard.delays.ts';

export type ChartState = {
  /** For example `home.page.resting`; `''` for the root. */
  readonly path: string;
  readonly name: string;
  readonly kind: 'leaf' | 'compound' | 'parallel';
  /** Whether it is the initial state of its region. */
  readonly initial: boolean;
  readonly tags: readonly string[];
  readonly invokes: readonly string[];
  readonly states: readonly ChartState[];
};

/** One transition, in words. `to` is empty if it doesn't leave the state. */
export type Way = {
  readonly from: string;
  readonly to: readonly string[];
  readonly event: string;
  /** For example `if the email is malformed`, or `else` after others of the same event; none if it is always taken. */
  readonly condition?: string;
  readonly actions: readonly string[];
};

export type Chart = { readonly root: ChartState; readonly ways: readonly Way[] };

/** Stands for the event of an eventless transition. */
export const AT_ONCE = 'at once';

/** The machine as it is drawn: its states, and every transition in the machine's own words. */
export function chartOf(machine: AnyStateMachine): Chart {
  const ways: Way[] = [];
  const read = (node: AnyStateNode): ChartState => {
    for (const definitions of [node.always ?? [], ...node.transitions.values()])
      ways.push(...definitions.map((definition, index) => wayOf(node, definition, index > 0)));
    return {
      path: pathOf(node),
      name: node.key,
      kind: node.type === 'parallel' ? 'parallel' : node.type === 'compound' ? 'compound' : 'leaf',
      initial: node.parent?.type === 'compound' && node.parent.initial.target.includes(node),
      tags: node.tags,
      invokes: node.invoke.map(({ src }) => (typeof src === 'string' ? src : 'an actor')),
      states: Object.values(node.states).map(read),
    };
  };
  return { root: read(machine.root), ways };
}

/** The page that a state belongs to: the top-level state's name. */
export function pageIn(path: string): string {
  return path.split('.')[0] ?? '';
}

/** All states of a chart, each one before its children. */
export function statesIn(state: ChartState): ChartState[] {
  return [state, ...state.states.flatMap(statesIn)];
}

function pathOf(node: AnyStateNode): string {
  return node.path.join('.');
}

function wayOf(node: AnyStateNode, definition: AnyTransitionDefinition, afterOthers: boolean): Way {
  const condition = conditionWords(definition.guard, afterOthers);
  const targets: readonly AnyStateNode[] = definition.target ?? [];
  return {
    from: pathOf(node),
    to: targets.map(pathOf),
    event: eventWords(node, definition.eventType),
    actions: definition.actions.map(actionWords),
    ...(condition !== undefined && { condition }),
  };
}

function conditionWords(guard: unknown, afterOthers: boolean): string | undefined {
  if (guard !== undefined) return `if ${guardWords(guard).replace(/^\((.*)\)$/, '$1')}`;
  return afterOthers ? 'else' : undefined;
}

/** XState's own events in words: a delay, an answer, a failure. */
export function eventWords(node: AnyStateNode, eventType: string): string {
  if (eventType === '') return AT_ONCE;
  const after = node.after.find((candidate) => candidate.eventType === eventType);
  if (after !== undefined) return `after ${delayWords(after.delay)}`;
  for (const { id, src } of node.invoke) {
    const call = typeof src === 'string' ? src : 'an actor';
    if (eventType === `xstate.done.actor.${id}`) return `done: ${call}`;
    if (eventType === `xstate.error.actor.${id}`) return `failed: ${call}`;
  }
  return eventType;
}

function delayWords(delay: unknown): string {
  const name = String(delay);
  const ms = (DELAYS as Readonly<Record<string, number>>)[name];
  return ms === undefined ? `${name} ms` : `${name} (${ms / 1000} s)`;
}

function actionWords(action: unknown): string {
  return nameOf(action) === 'xstate.assign' ? 'remember' : nameOf(action);
}

function nameOf(thing: unknown): string {
  if (typeof thing === 'string') return thing;
  if (typeof thing === 'object' && thing !== null && 'type' in thing) return String(thing.type);
  return typeof thing === 'function' ? thing.name : '';
}

/** Identifies built-in guards by their `check`, because minification removes the functions' names. */
const checks = Object.fromEntries(
  Object.entries({ and: and([]), not: not(() => true), stateIn: stateIn('') }).map(([name, guard]) => [
    name,
    (guard as unknown as Built).check,
  ]),
);

type Built = { readonly check: unknown; readonly guards?: readonly unknown[]; readonly stateValue?: unknown };

/** A guard in words, including the operands of `and`, `or`, `not` and `stateIn`. */
function guardWords(guard: unknown): string {
  if (typeof guard === 'function' && 'check' in guard) {
    const { guards = [], stateValue } = guard as unknown as Built;
    const parts = guards.map(guardWords);
    if (guard.check === checks.not) return `not ${parts.join('')}`;
    if (guard.check === checks.stateIn) return `in ${nameOf(stateValue)}`;
    return `(${parts.join(guard.check === checks.and ? ' and ' : ' or ')})`;
  }
  const name = nameOf(guard);
  if (name === 'the failure is') return `${name} ${givenTo(guard).codes.join(' or ')}`;
  if (name === 'the sign-in is refused by') return `${name} the ${givenTo(guard).wanted}`;
  return name;
}

/** What was passed to `failedWith` or `refusedBy`: their `params` return it whatever the error. */
function givenTo(guard: unknown): Given {
  const { params } = guard as { readonly params: (_: { event: { error: unknown } }) => Given };
  return params({ event: { error: undefined } });
}

type Given = { readonly codes: readonly string[]; readonly wanted: string };
