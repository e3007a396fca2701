import { type ActorRefFrom, createActor, fromCallback, fromPromise, SimulatedClock } from 'xstate';
import { ACTORS } from '../../machines/wizard.actors.ts';
import { sessionOf } from '../../machines/wizard.context.ts';
import { DELAYS } from '../../machines/wizard.delays.ts';
import { wizardMachine } from '../../machines/wizard.machine.ts';
import { addressOf, visitOf, type WizardSnapshot } from '../../machines/wizard.routes.ts';
import type { Session } from '../../machines/wizard.types.ts';
import { watchGuards } from './guards.ts';
import { type CallName, ID, type Move } from './moves.ts';
import { watchTransitions } from './transitions.ts';
import { settle, SETTINGS } from './wizard.ts';

/** What has been seen of the machine, over all visitors: the names of transitions, guards' outcomes, leaf states. */
export type Seen = { readonly transitions: Set<string>; readonly guards: Set<string>; readonly leaves: Set<string> };

type Pending = { readonly answer: (value: unknown) => void; readonly refuse: (reason: unknown) => void };

/** Someone at the portal, who also controls the clock and the server: a call hangs until a move answers it. */
export type Visitor = {
  readonly snapshot: () => WizardSnapshot;
  /** Milliseconds since the visitor came. */
  readonly now: () => number;
  readonly pending: ReadonlyMap<CallName, Pending>;
  /** The addresses outside the portal that the visitor was sent to. */
  readonly left: readonly string[];
  /** All calls made, with their inputs. */
  readonly called: readonly { readonly name: CallName; readonly input: unknown }[];
  readonly make: (move: Move) => Promise<void>;
  readonly leave: () => void;
};

/** The current visitor's side of the portal: handles its calls, and navigations elsewhere. */
type Host = {
  readonly ask: (name: CallName, input: unknown, signal: AbortSignal) => Promise<unknown>;
  readonly leaveFor: (address: string) => void;
};
const NOBODY: Host = { ask: () => Promise.reject(new Error('Nobody is here.')), leaveFor: () => {} };

/** A portal for one visitor after another. They share one machine, because building it is slow. */
export function openPortal(seen: Seen): (session: Session) => Visitor {
  let host = NOBODY;
  const actors = Object.fromEntries(
    Object.keys(ACTORS).map((name) => [
      name,
      name === 'follow the transfer'
        ? fromCallback(() => {})
        : fromPromise(({ input, signal }) => host.ask(name as CallName, input, signal)),
    ]),
  ) as unknown as typeof ACTORS;
  const machine = watchGuards(
    wizardMachine.provide({
      actors,
      actions: {
        'leave for': (_, { address }) => host.leaveFor(address),
        'load the page anew': () => {},
        'drop the stored token': () => {},
        'tell the other tabs': () => {},
        'look at the clock': () => {},
      },
    }),
    seen.guards,
  );
  const inspect = watchTransitions(seen.transitions, seen.leaves);

  return (session) => {
    const clock = new SimulatedClock();
    const pending = new Map<CallName, Pending>();
    const left: string[] = [];
    const called: { name: CallName; input: unknown }[] = [];
    host = {
      leaveFor: (address) => left.push(address),
      ask: (name, input, signal) => {
        called.push({ name, input });
        return new Promise((answer, refuse) => {
          const call = { answer, refuse };
          pending.set(name, call);
          signal.addEventListener('abort', () => {
            if (pending.get(name) === call) pending.delete(name);
          });
        });
      },
    };
    const open = (session: Session): ActorRefFrom<typeof wizardMachine> => {
      const actor = createActor(machine, {
        clock,
        inspect,
        input: { settings: SETTINGS, now: 0, storedToken: 'old', session },
      }).start();
      seen.leaves.add('wizard.arriving');
      return actor;
    };
    let actor = open(session);

    function reload(): void {
      const snapshot = actor.getSnapshot();
      const address = addressOf(snapshot);
      actor.stop();
      pending.clear();
      actor = open(sessionOf(snapshot.context));
      actor.send(
        address === null ? { type: 'unknown.visit' } : visitOf(address.path, new URLSearchParams(address.query)),
      );
    }

    async function make(move: Move): Promise<void> {
      if (move.kind === 'send') actor.send(move.event);
      else if (move.kind === 'wait') clock.increment(DELAYS[move.delay]);
      else if (move.kind === 'reload') reload();
      else {
        const call = pending.get(move.call);
        if (call === undefined) throw new Error(`Nobody waits for an answer: ${move.call}`);
        pending.delete(move.call);
        if (move.kind === 'answer') call.answer(move.answer);
        else
          call.refuse({
            error: move.code,
            message: '',
            ...(move.side === undefined ? {} : { side: move.side }),
            ...(move.code === 'MIGRATION_IN_PROGRESS' ? { transferId: ID } : {}),
          });
        await settle();
      }
    }

    return {
      snapshot: () => actor.getSnapshot(),
      now: () => clock.now(),
      pending,
      left,
      called,
      make,
      leave: () => {
        actor.stop();
      },
    };
  };
}
