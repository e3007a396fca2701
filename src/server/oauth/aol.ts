import type { Profile } from './profile.ts';

/** The same platform as Yahoo's. Not every AOL client is given contacts, so mail alone is enough. */
export const aol: Profile = {
  scopes: ['mail-w', 'sdct-w'],
  needed: ['mail-w'],
  parameters: {},
  emailClaims: ['email'],
};
