import { matchesState, type StateValue } from 'xstate';
import { OAUTH_PROVIDERS } from '../src/contract/provider-name.ts';
import type { Provider } from '../src/contract/provider.ts';

/** The new mailboxes with a guide of their own, and one guide for all others. */
export const GUIDES = [...OAUTH_PROVIDERS, 'other'] as const;
export type Guide = (typeof GUIDES)[number];

export function guideOf(provider: Provider): Guide {
  return asGuide(provider) ?? 'other';
}

export function asGuide(name: string): Guide | undefined {
  return GUIDES.find((each) => each === name);
}

/** Which guide is open on the status page, by the machine's state value. */
export function openGuide(value: StateValue): Guide | undefined {
  return GUIDES.find((each) => matchesState({ status: { guide: each } }, value));
}
