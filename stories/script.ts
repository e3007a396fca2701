import { fromCallback, fromPromise } from 'xstate';
import type { ACTORS } from '../machines/wizard.actors.ts';
import { DELAYS } from '../machines/wizard.delays.ts';
import { wizardMachine } from '../machines/wizard.machine.ts';
import type { CallFailureCode } from '../src/contract/failure-code.ts';
import type { Context, Event } from '../machines/wizard.types.ts';
import { MOVED, RUNNING, TODAY, TRANSFER } from './people.ts';

type Calls = typeof ACTORS;
export type CallName = Exclude<keyof Calls, 'follow the transfer'>;
type Refusal = { readonly refused: CallFailureCode };
/** The answer to each call; a function gets the call's input. */
export type Script = { readonly [Name in CallName]?: unknown };

export const refuse = (code: CallFailureCode): Refusal => ({ refused: code });

/** The scripted world is faster in tests. Messages and timeouts keep their durations, so that slow machines see them too. */
const QUICK = '__vitest_browser__' in globalThis ? 0.05 : 1;
const ANSWER_MS = 700 * QUICK;
const STATUS_MS = 1_500 * QUICK;

const PAUSES = [
  'typing pause',
  'empty contact pause',
  'success pause',
  'redirect pause',
  'policy pause',
  'copy pause',
  'status pause',
] as const;

const PACE: Partial<Record<keyof typeof DELAYS, number>> = Object.fromEntries(
  PAUSES.map((name) => [name, DELAYS[name] * QUICK]),
);

const LEGACY = { allowedOperations: ['emailmigration', 'contactsmigration'], provider: 'sanbruno', auth: 'other' };

/** A world in which everything goes well. */
const GOOD: Required<Script> = {
  'check the stored token': null,
  'ask for capabilities': ({ email }: { email: string }) => {
    if (email.endsWith('.example') && /@(?:sanbruno|sbcable)/.test(email)) return LEGACY;
    if (email.endsWith('@gmail.com')) return { ...LEGACY, provider: 'gmail', auth: 'oauth' };
    if (email.endsWith('@outlook.com')) return { ...LEGACY, provider: 'microsoft', auth: 'oauth' };
    return { ...LEGACY, provider: 'other' };
  },
  'validate the account': { ok: true, token: 'a-token' },
  'list the sign-ins': [{ began: '2025-11-18T16:05:00Z', used: '2025-11-18T16:40:00Z' }],
  'sign out': { ok: true },
  'resolve the host': { ok: true },
  'create the account': { ok: true },
  'announce the migration': { ok: true },
  'start the transfer': { jobid: TRANSFER },
  'ask for the status': RUNNING,
  'list the transfers': {
    [TRANSFER]: new Date(TODAY).toISOString(),
    ['0'.repeat(32)]: '2025-10-02T18:20:00Z',
  },
  'ask for the statuses': { [TRANSFER]: RUNNING, ['0'.repeat(32)]: MOVED },
  'check the domain': { valid: true },
  'check the phone number': { valid: true },
  'write to support': { ok: true },
  'copy to the clipboard': undefined,
  'stop the transfer': { ok: true },
  'resume the transfer': { ok: true },
  'take back what was copied': { ok: true },
  'copy what is new': { jobid: TRANSFER },
  'stop the daily copying': { ok: true },
  'stop forwarding': { ok: true },
  'delete the export': { ok: true },
};

/** The real machine without a network and with a stopped clock. `leave` is called in place of a sign-in elsewhere. */
export function scriptedWizard(script: Script, leave: (address: string, context: Context) => void) {
  return wizardMachine.provide({
    actors: scripted(script),
    delays: PACE,
    actions: {
      'leave for': ({ context }, { address }) => leave(address, context),
      'look at the clock': () => {},
      'load the page anew': () => {},
      'drop the stored token': () => {},
      'tell the other tabs': () => {},
    },
  });
}

/** Each call is answered after a moment, by the script or else as in a good world. */
function scripted(script: Script): Calls {
  const calls = Object.keys(GOOD).map((key) => {
    const name = key as CallName;
    const line = name in script ? script[name] : GOOD[name];
    return [name, fromPromise(({ input }: { input: unknown }) => answer(line, input))] as const;
  });
  const following = fromCallback<Event>(({ sendBack }) => {
    const timer = setTimeout(() => sendBack({ type: 'status.arrive', status: MOVED }), STATUS_MS);
    return () => clearTimeout(timer);
  });
  return { ...Object.fromEntries(calls), 'follow the transfer': following } as unknown as Calls;
}

async function answer(line: unknown, input: unknown): Promise<unknown> {
  const said: unknown = typeof line === 'function' ? (line as (input: unknown) => unknown)(input) : line;
  await new Promise((resolve) => {
    setTimeout(resolve, ANSWER_MS);
  });
  if (typeof said === 'object' && said !== null && 'refused' in said) {
    const { refused } = said as Refusal;
    throw Object.assign(new Error(refused), { error: refused });
  }
  return said;
}
