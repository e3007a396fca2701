import type { AnyStateNode, AnyTransitionDefinition, InspectionEvent } from 'xstate';

/** Every state node below this one, itself included. */
export function nodesOf(node: AnyStateNode): AnyStateNode[] {
  return [node, ...Object.values(node.states).flatMap(nodesOf)];
}

/** Every transition that a machine can take, entry into an initial state left out, by name. */
export function transitionsOf(root: AnyStateNode): Set<string> {
  return new Set(
    nodesOf(root).flatMap((node) => [...[...node.transitions.values()].flat(), ...(node.always ?? [])].map(nameOf)),
  );
}

/** A transition in words: where from, on what, the how-manieth of its event, where to. */
function nameOf(transition: AnyTransitionDefinition): string {
  const siblings = transition.source.transitions.get(transition.eventType) ?? transition.source.always ?? [];
  const targets = transition.target?.map((target) => target.id).join(' + ') ?? 'stays';
  return `${transition.source.id} --${transition.eventType || 'always'}[${siblings.indexOf(transition)}]--> ${targets}`;
}

/** Collects the transitions that are taken, for `createActor(…, { inspect })`. */
export function watchTransitions(taken: Set<string>): (event: InspectionEvent) => void {
  return (event) => {
    if (event.type !== '@xstate.microstep') return;
    for (const transition of event._transitions) taken.add(nameOf(transition as AnyTransitionDefinition));
  };
}
