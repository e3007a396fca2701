import { wizard } from '../wizard.setup.ts';
import { askingHome } from './asking-home.ts';

const chooseGoogle = { type: 'choose the provider' as const, params: { provider: 'google' as const } };

/** Explains which of Google's permissions were missing. */
export const emailScopes = wizard.createStateConfig({
  id: 'email-scopes',
  meta: { step: 2, page: { path: '/check-email-scopes', visit: () => ({ type: 'email-scopes.visit' }) } },
  ...askingHome,
  on: {
    'page.next': '#destination',
    'google.retry': [
      { guard: 'terms are accepted', target: '#leaving-for-transfer', actions: chooseGoogle },
      { target: '#google-terms', actions: chooseGoogle },
    ],
  },
});
