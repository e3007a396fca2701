import { onTestFailed, TestRunner } from 'vitest';
import { assign, createActor, fromCallback, fromPromise, SimulatedClock } from 'xstate';
import { ACTORS } from '../../machines/wizard.actors.ts';
import { addressOf, visitOf, type WizardSnapshot } from '../../machines/wizard.routes.ts';
import type { Event, Input, Session, Tag } from '../../machines/wizard.types.ts';
import type { Side } from '../../src/contract/calls/resume.ts';
import { type CallFailureCode, FAILURE_CODES } from '../../src/contract/failure-code.ts';
import { portalSettings, readSettings } from '../../src/contract/settings.ts';
import { testedMachine } from './tested-machine.ts';

export const SETTINGS = portalSettings(readSettings({ SANDBOX: 'on' }));
export const NOW = Date.parse('2025-11-01T00:00:00Z');

/** All codes with which a call can fail. */
export const EVERY_CODE: readonly CallFailureCode[] = [...FAILURE_CODES, 'UNAVAILABLE', 'UNEXPECTED_ANSWER'];

/** All codes except these. */
export function codesBut(...codes: readonly CallFailureCode[]): readonly CallFailureCode[] {
  return EVERY_CODE.filter((code) => !codes.includes(code));
}

type Calls = typeof ACTORS;
type Script = { [Name in keyof Calls]?: (input: never) => unknown };

/** A scripted call that fails with a code, and anything else that the refusal contains. */
export function refusal(code: CallFailureCode, told: { readonly side?: Side } = {}): () => Promise<never> {
  return () => Promise.reject(Object.assign(new Error(code), { error: code, message: '', ...told }));
}

export type Wizard = ReturnType<typeof startWizard>;

/** Where the wizard is that was started last: a test that fails says so. */
let whereIsLast = (): string => '';
const watched = new WeakSet<object>();

function watchTest(): void {
  const current = TestRunner.getCurrentTest();
  // Once for each test: one of them starts a hundred thousand.
  if (current === undefined || watched.has(current)) return;
  watched.add(current);
  onTestFailed(({ task }) => {
    const [error] = task.result?.errors ?? [];
    if (error !== undefined) error.message += `\nThe wizard is at ${whereIsLast()}`;
  });
}

/** A running wizard on a simulated clock. Calls without a script never answer; all calls are recorded. */
export function startWizard(script: Script = {}, session?: Session, input: Partial<Input> = {}) {
  const clock = new SimulatedClock();
  const calls: { name: string; input: unknown }[] = [];
  const left: string[] = [];
  const actors = Object.fromEntries(
    Object.keys(ACTORS).map((name) => [
      name,
      name === 'follow the transfer'
        ? fromCallback(({ input }) => {
            calls.push({ name, input });
          })
        : fromPromise(({ input }: { input: unknown }) => {
            calls.push({ name, input });
            const answer = script[name as keyof Calls];
            return answer === undefined
              ? new Promise(() => {})
              : new Promise((resolve) => {
                  resolve(answer(input as never));
                });
          }),
    ]),
  ) as unknown as Calls;
  const tested = testedMachine();
  const machine = tested.machine.provide({
    actors,
    actions: {
      'leave for': (_, { address }) => {
        left.push(address);
      },
      'load the page anew': () => {
        left.push('loaded anew');
      },
      'drop the stored token': () => {
        left.push('token dropped');
      },
      'tell the other tabs': () => {
        left.push('other tabs told');
      },
      'look at the clock': assign({ now: () => NOW + clock.now() }),
    },
  });
  const actor = createActor(machine, {
    clock,
    input: { settings: SETTINGS, now: NOW, ...(session ? { session } : {}), ...input },
    ...(tested.inspect === undefined ? {} : { inspect: tested.inspect }),
  });
  if (tested.mayFail) actor.subscribe({ error: () => {} });
  actor.start();
  whereIsLast = () => leavesIn(actor.getSnapshot()).join(', ');
  watchTest();

  /** The contents of the address bar. */
  const address = () => {
    const { path, query } = addressOf(actor.getSnapshot()) ?? { path: 'between pages', query: {} };
    const text = new URLSearchParams(query).toString();
    return text === '' ? path : `${path}?${text}`;
  };
  const visit = (to: string) => {
    const { pathname, searchParams } = new URL(to, 'http://portal.example');
    actor.send(visitOf(pathname, searchParams));
  };
  /** Sends events one after another, and lets the answers to the resulting calls arrive. */
  const send = async (...events: readonly Event[]) => {
    for (const event of events) {
      actor.send(event);
      await settle();
    }
  };
  const wait = async (ms: number) => {
    clock.increment(ms);
    await settle();
  };
  return {
    actor,
    clock,
    calls,
    left,
    script,
    address,
    visit,
    send,
    wait,
    context: () => actor.getSnapshot().context,
    /** Whether the wizard is in a state, by its path: `home.page.resting`. */
    isAt: (path: string) => idsOf(actor.getSnapshot()._nodes).includes(path),
    has: (tag: Tag) => actor.getSnapshot().hasTag(tag),
    /** The inputs of every call of that name. */
    asked: (name: keyof Calls) => calls.filter((call) => call.name === name).map(({ input }) => input),
  };
}

const leavesIn = ({ _nodes }: WizardSnapshot) => idsOf(_nodes.filter(({ type }) => type === 'atomic'));

function idsOf(nodes: readonly { readonly path: readonly string[] }[]): string[] {
  return nodes.map(({ path }) => path.join('.'));
}

/** A wizard whose visitor has arrived at an address. */
export function arriveAt(to: string, script: Script = {}, session?: Session, input: Partial<Input> = {}): Wizard {
  const wizard = startWizard(script, session, input);
  wizard.visit(to);
  return wizard;
}

/** Lets the answers of finished calls arrive. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
}
