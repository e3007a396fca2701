import type { Profile } from './profile.ts';

/** Same platform as Yahoo. Not every AOL client is granted contacts, so only mail is required. */
export const aol: Profile = {
  scopes: ['mail-w', 'sdct-w'],
  needed: ['mail-w'],
  parameters: {},
  emailClaims: ['email'],
};
