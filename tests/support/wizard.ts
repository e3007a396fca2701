import { createActor, fromCallback, fromPromise, SimulatedClock } from 'xstate';
import { ACTORS } from '../../machines/wizard.actors.ts';
import { wizardMachine } from '../../machines/wizard.machine.ts';
import type { Input, Session } from '../../machines/wizard.types.ts';
import { portalSettings, readSettings } from '../../src/contract/settings.ts';

export const SETTINGS = portalSettings(readSettings({ SANDBOX: 'on' }));

type Calls = typeof ACTORS;
type Script = { [Name in keyof Calls]?: (input: never) => unknown };

/** A running wizard on a simulated clock. Calls without a script never answer; each call made is kept. */
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
  const machine = wizardMachine.provide({
    actors,
    actions: {
      'leave for': (_, { address }) => {
        left.push(address);
      },
      'drop the stored token': () => {
        left.push('token dropped');
      },
      'look at the clock': () => {},
    },
  });
  const actor = createActor(machine, {
    clock,
    input: { settings: SETTINGS, now: Date.parse('2025-11-01T00:00:00Z'), ...(session ? { session } : {}), ...input },
  }).start();
  return { actor, clock, calls, left };
}

/** Lets the answers of finished calls arrive. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
}
