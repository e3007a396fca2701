import { wizard } from '../wizard.setup.ts';

/** Explains which of Google's permissions were missing. */
export const emailScopes = wizard.createStateConfig({
  id: 'email-scopes',
  meta: { step: 2, page: { path: '/check-email-scopes', visit: () => ({ type: 'email-scopes.visit' }) } },
  on: { 'page.next': '#destination' },
});
