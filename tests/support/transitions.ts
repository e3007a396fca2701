import type { AnyMachineSnapshot, AnyStateNode, AnyTransitionDefinition, InspectionEvent } from 'xstate';

/** This state node and all of its descendants. */
export function nodesOf(node: AnyStateNode): AnyStateNode[] {
  return [node, ...Object.values(node.states).flatMap(nodesOf)];
}

/** The IDs of all leaf states. */
export function leavesOf(root: AnyStateNode): Set<string> {
  return new Set(
    nodesOf(root)
      .filter(({ type }) => type === 'atomic')
      .map(({ id }) => id),
  );
}

/** The names of all transitions that a machine can take, except entries into initial states. */
export function transitionsOf(root: AnyStateNode): Set<string> {
  return new Set(
    nodesOf(root).flatMap((node) => [...[...node.transitions.values()].flat(), ...(node.always ?? [])].map(nameOf)),
  );
}

/** A transition's name: its source, its event, its index among the transitions for that event, and its targets. */
export function nameOf(transition: AnyTransitionDefinition): string {
  const siblings = transition.source.transitions.get(transition.eventType) ?? transition.source.always ?? [];
  const targets = transition.target?.map((target) => target.id).join(' + ') ?? 'stays';
  return `${choiceOf(transition.source.id, transition.eventType)}[${siblings.indexOf(transition)}]--> ${targets}`;
}

/** The part that the names of a state's transitions for one event have in common. */
export function choiceOf(node: string, eventType: string): string {
  return `${node} --${eventType || 'always'}`;
}

/** Parses a transition's name: the choice that it is an outcome of, its source and its targets. */
export function partsOf(name: string): { name: string; choice: string; node: string; targets: readonly string[] } {
  return {
    name,
    choice: name.slice(0, name.lastIndexOf('[')),
    node: name.slice(0, name.indexOf(' --')),
    targets: name.slice(name.indexOf('--> ') + 4).split(' + '),
  };
}

/** Collects the transitions taken and the leaf states entered, for `createActor(…, { inspect })`. */
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
