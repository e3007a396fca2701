import type { StatelyInspectionEvent } from '@statelyai/inspect';
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { eventWords } from './chart.ts';
import { heard, type Names, NOTHING_HEARD, type Recording } from './recording.ts';

export type Recorder = {
  /** `page` tells apart pages that are open at the same time. */
  readonly hear: (message: StatelyInspectionEvent, page?: number) => void;
  readonly forget: () => void;
  readonly now: () => Recording;
  readonly subscribe: (look: () => void) => () => void;
};

/** Records a machine from its inspection events, naming calls as the machine does. */
export function createRecorder(machine: AnyStateMachine): Recorder {
  const names = namesOf(machine);
  const watchers = new Set<() => void>();
  let recording = NOTHING_HEARD;
  const become = (next: Recording) => {
    recording = next;
    for (const look of watchers) look();
  };
  return {
    hear: (message, page = 0) => become(heard(recording, message, page, names)),
    // Keeps the session of the running wizard, so that its next events are still recorded.
    forget: () => become({ ...recording, entries: [], moments: recording.moments.slice(-1).map(first) }),
    now: () => recording,
    subscribe: (look) => {
      watchers.add(look);
      return () => watchers.delete(look);
    },
  };
}

const first = (moment: Recording['moments'][number]) => ({ ...moment, entry: -1 });

/** The machine's names for calls and events that XState has generated names for. */
function namesOf(machine: AnyStateMachine): Names {
  const calls = new Map<string, string>();
  const events = new Map<string, string>();
  const read = (node: AnyStateNode) => {
    for (const { id, src } of node.invoke) if (typeof src === 'string') calls.set(id, src);
    const answers = node.invoke.flatMap(({ id }) => [`xstate.done.actor.${id}`, `xstate.error.actor.${id}`]);
    for (const type of [...node.transitions.keys(), ...answers]) events.set(type, eventWords(node, type));
    for (const inner of Object.values(node.states)) read(inner);
  };
  read(machine.root);
  return { callOf: (id) => calls.get(id) ?? id, eventOf: (type) => events.get(type) ?? type };
}
