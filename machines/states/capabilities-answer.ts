import type { Capabilities } from '../../src/contract/calls/capabilities.ts';

function answered({ event }: { readonly event: { readonly output: Capabilities } }) {
  return { capabilities: event.output };
}

/** Guards and actions on the answer to 'ask for capabilities'. */
export const isLegacyProvider = { type: 'the provider is the legacy one', params: answered } as const;
export const signsInByOauth = { type: 'the provider signs in by OAuth', params: answered } as const;
export const rememberOperations = { type: 'remember the operations', params: answered } as const;
export const rememberTypedAccount = { type: 'remember the typed account', params: answered } as const;
