import { wizard } from '../wizard.setup.ts';

/** Explains which of Google's permissions were missing. */
export const emailScopes = wizard.createStateConfig({
  id: 'email-scopes',
  on: { 'page.next': '#destination' },
});
