import type { Requirement } from '../requirement.ts';

const NO_SERVER =
  'The product is a client: it issues no token and has no resource server. The sandbox’s sign-in pages are refused at a public address.';

export const V10: readonly Requirement[] = [
  {
    id: '10.1.1',
    line: 'tokens go only where they are needed',
    shownBy: [
      'no password, code or token is in a log, an answer, an address or the database in clear',
      'an answer that is not as documented ends the copy, and nothing is sent to where it points',
    ],
  },
  {
    id: '10.1.2',
    line: 'answers count only in the browser and transaction that asked',
    shownBy: [
      'from another browser is refused, and the right one is not disturbed',
      'is taken once and refused when it is reused',
      'with somebody else’s code is refused, because its verifier does not fit',
      '%s signs nobody in',
    ],
  },
  {
    id: '10.2.1',
    line: 'no CSRF at the return, by PKCE or state',
    shownBy: [
      'without a state is refused',
      'with a state that nobody was given is refused',
      'from another browser is refused, and the right one is not disturbed',
    ],
  },
  {
    id: '10.2.2',
    line: 'no mix-up of authorization servers',
    shownBy: [
      'to another provider’s address is refused, and its code goes nowhere',
      'with another provider’s issuer is refused (RFC 9207)',
    ],
  },
  { id: '10.3.1', line: 'resource servers check the audience', not: NO_SERVER },
  { id: '10.3.2', line: 'resource servers check the scope', not: NO_SERVER },
  { id: '10.3.3', line: 'resource servers know users by iss and sub', not: NO_SERVER },
  { id: '10.3.4', line: 'resource servers check the strength of the sign-in', not: NO_SERVER },
  { id: '10.4.1', line: 'authorization servers compare redirect addresses exactly', not: NO_SERVER },
  { id: '10.4.2', line: 'authorization servers take a code once', not: NO_SERVER },
  { id: '10.4.3', line: 'authorization servers’ codes are short-lived', not: NO_SERVER },
  { id: '10.4.4', line: 'authorization servers allow the needed grants only', not: NO_SERVER },
  { id: '10.4.5', line: 'authorization servers stop replays of refresh tokens', not: NO_SERVER },
  { id: '10.4.6', line: 'authorization servers require PKCE', not: NO_SERVER },
  { id: '10.4.7', line: 'authorization servers are safe against registered clients', not: NO_SERVER },
  { id: '10.4.8', line: 'authorization servers end refresh tokens', not: NO_SERVER },
  { id: '10.4.9', line: 'authorization servers let users revoke tokens', not: NO_SERVER },
  { id: '10.4.10', line: 'authorization servers authenticate confidential clients', not: NO_SERVER },
  { id: '10.4.11', line: 'authorization servers assign the needed scopes only', not: NO_SERVER },
  { id: '10.5.1', line: 'no replay of ID tokens, by a nonce', shownBy: ['%s signs nobody in'] },
  {
    id: '10.5.2',
    line: 'users are known by a claim that is not given to others',
    // By a digest of sub (at Microsoft, of tid and oid), beside the verified address.
    shownBy: ['lists nothing to another account that was given the address later'],
  },
  {
    id: '10.5.3',
    line: 'metadata that names another issuer is refused',
    shownBy: ['a provider whose metadata names another issuer is not believed'],
  },
  { id: '10.5.4', line: 'the ID token is for this client', shownBy: ['%s signs nobody in'] },
  { id: '10.5.5', line: 'back-channel logout is safe', not: 'The product offers no back-channel logout.' },
  { id: '10.6.1', line: 'OpenID providers allow the right response modes', not: NO_SERVER },
  { id: '10.6.2', line: 'OpenID providers can not be made to sign users out', not: NO_SERVER },
  { id: '10.7.1', line: 'authorization servers ask for consent', not: NO_SERVER },
  { id: '10.7.2', line: 'authorization servers say what is consented to', not: NO_SERVER },
  { id: '10.7.3', line: 'authorization servers let consents be revoked', not: NO_SERVER },
];
