import type { Profile } from './profile.ts';

const MAIL = 'https://outlook.office.com/IMAP.AccessAsUser.All';
const CONTACTS = 'https://graph.microsoft.com/Contacts.ReadWrite';

/**
 * One consent covers both resources, but each token is for one of them.
 * https://learn.microsoft.com/en-us/entra/identity-platform/scopes-oidc
 *
 * The claim `email` can be set by any tenant's administrator to any address; `preferred_username` is in a domain that
 * the tenant has proven.
 */
export const office365: Profile = {
  scopes: [MAIL, CONTACTS, 'offline_access'],
  needed: [MAIL],
  scopesOf: { mail: [MAIL], contacts: [CONTACTS] },
  parameters: {},
  emailClaims: ['preferred_username', 'email'],
};
