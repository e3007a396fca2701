import type { InputFrom, OutputFrom } from 'xstate';
import type { CALLS } from '../../machines/wizard.actors.ts';

export type CallName = keyof typeof CALLS;
export type CallInput<Name extends CallName> = InputFrom<(typeof CALLS)[Name]>;

/** Every call of the machine, as a function that makes it. @throws {CallError} */
export type Calls = {
  readonly [Name in CallName]: (
    input: CallInput<Name>,
    signal: AbortSignal,
  ) => Promise<OutputFrom<(typeof CALLS)[Name]>>;
};
