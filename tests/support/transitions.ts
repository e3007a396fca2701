import type { AnyMachineSnapshot, AnyStateNode, AnyTransitionDefinition, InspectionEvent } from 'xstate';

/** Every state node below this one, itself included. */
export function nodesOf(node: AnyStateNode): AnyStateNode[] {
  return [node, ...Object.values(node.states).flatMap(nodesOf)];
}

/** Every state without states inside, by its ID. */
export function leavesOf(root: AnyStateNode): Set<string> {
  return new Set(
    nodesOf(root)
      .filter(({ type }) => type === 'atomic')
      .map(({ id }) => id),
  );
}

/** Every transition that a machine can take, entry into an initial state left out, by name. */
export function transitionsOf(root: AnyStateNode): Set<string> {
  return new Set(
    nodesOf(root).flatMap((node) => [...[...node.transitions.values()].flat(), ...(node.always ?? [])].map(nameOf)),
  );
}

/** A transition in words: from where, on which event, its place among the transitions of that event, to where. */
export function nameOf(transition: AnyTransitionDefinition): string {
  const siblings = transition.source.transitions.get(transition.eventType) ?? transition.source.always ?? [];
  const targets = transition.target?.map((target) => target.id).join(' + ') ?? 'stays';
  return `${choiceOf(transition.source.id, transition.eventType)}[${siblings.indexOf(transition)}]--> ${targets}`;
}

/** What the transitions of one state on one event have in common in their names. */
export function choiceOf(node: string, eventType: string): string {
  return `${node} --${eventType || 'always'}`;
}

/** The choice that a transition is one outcome of, the state that it begins in and those it leads to, out of its name. */
export function partsOf(name: string): { name: string; choice: string; node: string; targets: readonly string[] } {
  return {
    name,
    choice: name.slice(0, name.lastIndexOf('[')),
    node: name.slice(0, name.indexOf(' --')),
    targets: name.slice(name.indexOf('--> ') + 4).split(' + '),
  };
}

/** Collects the transitions that are taken and the leaf states that are entered, for `createActor(…, { inspect })`. */
export function watchTransitions(taken: Set<string>, entered: Set<string>): (event: InspectionEvent) => void {
  const names = new Map<unknown, string>();
  return (event) => {
    if (event.type !== '@xstate.microstep') return;
    for (const transition of event._transitions) {
      const name = names.get(transition) ?? nameOf(transition);
      names.set(transition, name);
      taken.add(name);
    }
    for (const node of (event.snapshot as AnyMachineSnapshot)._nodes) if (node.type === 'atomic') entered.add(node.id);
  };
}
