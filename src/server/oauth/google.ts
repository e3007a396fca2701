import type { Profile } from './profile.ts';

const MAIL = 'https://mail.google.com/';
const CONTACTS = 'https://www.googleapis.com/auth/contacts';

/**
 * A refresh token comes only with `access_type=offline`, and again only with `prompt=consent`.
 * https://developers.google.com/identity/protocols/oauth2/web-server
 */
export const google: Profile = {
  scopes: [MAIL, CONTACTS],
  needed: [MAIL, CONTACTS],
  parameters: { access_type: 'offline', prompt: 'consent' },
  emailClaims: ['email'],
};
