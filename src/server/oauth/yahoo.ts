import type { Profile } from './profile.ts';

/** `mail-w` reads and writes mail, `sdct-w` contacts. https://developer.yahoo.com/oauth2/guide/yahoo_scopes/ */
export const yahoo: Profile = {
  scopes: ['mail-w', 'sdct-w'],
  needed: ['mail-w', 'sdct-w'],
  parameters: {},
  emailClaims: ['email'],
};
