import { isYes, type Profile } from './profile.ts';

const MAIL = 'https://outlook.office.com/IMAP.AccessAsUser.All';
const CONTACTS = 'https://graph.microsoft.com/Contacts.ReadWrite';

/** The tenant of all personal accounts, whose addresses Microsoft itself has verified. */
const PERSONAL_ACCOUNTS = '9188040d-6c67-4c5b-b112-36a304b66dad';

/**
 * One consent covers both resources, but each token is for one of them.
 * https://learn.microsoft.com/en-us/entra/identity-platform/scopes-oidc
 *
 * Any tenant's administrator can set the claim `email` to any address, and `preferred_username` changes hands. An address
 * counts when Microsoft has verified it, or says by the optional claim `xms_edov` that the tenant owns its domain.
 * `tid` and `oid`, which need the scope `profile`, identify the person.
 * https://learn.microsoft.com/en-us/entra/identity-platform/migrate-off-email-claim-authorization
 */
export const office365: Profile = {
  scopes: [MAIL, CONTACTS, 'offline_access'],
  needed: [MAIL],
  scopesOf: { mail: [MAIL], contacts: [CONTACTS] },
  claimScopes: ['profile'],
  parameters: {},
  emailClaims: ['email'],
  isVerified: ({ tid, xms_edov: edov, email_verified: verified }) =>
    tid === PERSONAL_ACCOUNTS || [edov, verified].some(isYes),
  personOf: ({ tid, oid }) => (typeof tid === 'string' && typeof oid === 'string' ? `${tid}/${oid}` : null),
};
