import { matchesState, type StateValue } from 'xstate';
import { OAUTH_PROVIDERS } from '../src/contract/provider-name.ts';
import type { Provider } from '../src/contract/provider.ts';

/** The new mailboxes that there is a guide for, and one for all others. */
export const GUIDES = [...OAUTH_PROVIDERS, 'other'] as const;
export type Guide = (typeof GUIDES)[number];

export function guideOf(provider: Provider): Guide {
  return asGuide(provider) ?? 'other';
}

export function asGuide(name: string): Guide | undefined {
  return GUIDES.find((each) => each === name);
}

/** Which one is open on the status page, by the value of the whole machine. */
export function openGuide(value: StateValue): Guide | undefined {
  return GUIDES.find((each) => matchesState({ status: { guide: each } }, value));
}
