import type { Requirement } from './requirement.ts';

const OF_THE_SERVER = 'It is asked of the authorization server or the resource server.';
const NO_OPEN_REDIRECT = [
  'an unknown provider and one without a client are told apart',
  'a page that is requested by another name of this machine is redirected to PUBLIC_URL, but by no other name',
  'to an unknown provider’s address is refused',
] as const;

/** RFC 9700 (OAuth 2.0 Security Best Current Practice): each MUST, SHOULD and RECOMMENDED that concerns a client, by its section. */
export const RFC_9700: readonly Requirement[] = [
  { id: '2.1 (open redirectors)', line: 'clients MUST NOT expose open redirectors', shownBy: NO_OPEN_REDIRECT },
  {
    id: '2.1 (CSRF)',
    line: 'clients MUST prevent CSRF',
    shownBy: [
      'without a state is refused',
      'with a state that nobody was given is refused',
      'from another browser is refused, and the right one is not disturbed',
    ],
  },
  {
    id: '2.1 (PKCE as the only defence)',
    line: 'clients that rely on PKCE against CSRF MUST know that the server supports it',
    not: 'The product relies on state and nonce too.',
  },
  {
    id: '2.1 (state)',
    line: 'CSRF tokens in state MUST be used once and be bound to the browser',
    shownBy: [
      'is taken once and refused when it is reused',
      'from another browser is refused, and the right one is not disturbed',
      'two tabs of one browser can sign in at once',
    ],
  },
  {
    id: '2.1 (mix-up)',
    line: 'clients of several servers MUST prevent mix-up',
    shownBy: [
      'to another provider’s address is refused, and its code goes nowhere',
      'with another provider’s issuer is refused (RFC 9207)',
    ],
  },
  {
    id: '2.1 (credentials)',
    line: 'a redirect of a request with credentials MUST NOT pass them on',
    not: OF_THE_SERVER,
  },
  {
    id: '2.1.1 (injection)',
    line: 'clients MUST prevent injection of authorization codes',
    shownBy: ['with somebody else’s code is refused, because its verifier does not fit', '%s signs nobody in'],
  },
  {
    id: '2.1.1 (public clients)',
    line: 'public clients MUST use PKCE',
    not: 'The product is a confidential client; it uses PKCE all the same.',
  },
  {
    id: '2.1.1 (PKCE)',
    line: 'PKCE is RECOMMENDED for confidential clients',
    shownBy: ['the request to %s asks for exactly its scopes, by PKCE with S256, with state and nonce'],
  },
  {
    id: '2.1.1 (binding)',
    line: 'challenge and nonce MUST belong to the transaction, the client and the browser',
    shownBy: [
      'with somebody else’s code is refused, because its verifier does not fit',
      'from another browser is refused, and the right one is not disturbed',
      '%s signs nobody in',
    ],
  },
  {
    id: '2.1.1 (S256)',
    line: 'the challenge SHOULD NOT show the verifier',
    shownBy: ['the request to %s asks for exactly its scopes, by PKCE with S256, with state and nonce'],
  },
  {
    id: '2.1.2',
    line: 'clients SHOULD NOT use the implicit grant, and SHOULD use the response type code',
    shownBy: ['the request to %s asks for exactly its scopes, by PKCE with S256, with state and nonce'],
  },
  {
    id: '2.2.1',
    line: 'access tokens SHOULD be bound to their sender',
    not: 'Google, Yahoo, AOL and Microsoft bind none for IMAP, CardDAV and their contact interfaces.',
  },
  {
    id: '2.2.2',
    line: 'refresh tokens of public clients MUST be bound or rotated',
    not: 'The product is a confidential client.',
  },
  {
    id: '2.3',
    line: 'the rights of access tokens SHOULD be the least',
    shownBy: [
      'the request to %s asks for exactly its scopes, by PKCE with S256, with state and nonce',
      'asks for the address only',
      'of Microsoft are one for mail and one for contacts',
    ],
  },
  {
    id: '2.4',
    line: 'the password grant MUST NOT be used',
    shownBy: ['a provider is asked for tokens by codes and refresh tokens only, never by a password'],
  },
  {
    id: '2.5',
    line: 'asymmetric client authentication is RECOMMENDED',
    open: 'decisions.md (Settings) fixes it: each provider has a CLIENT_SECRET, which the client shows. Microsoft would take private_key_jwt; Google, Yahoo and AOL offer none to such clients.',
  },
  {
    id: '2.6 (metadata)',
    line: 'clients are RECOMMENDED to be configured by the server’s metadata',
    shownBy: [
      'a provider whose metadata names another issuer is not believed',
      '%s ends with an address and the ID of its tokens',
    ],
  },
  {
    id: '2.6 (TLS)',
    line: 'authorization responses MUST NOT go over unencrypted connections',
    shownBy: ['is refused for %s, unless it is named'],
  },
  {
    id: '2.6 (windows)',
    line: 'answers by postMessage MUST check the origin',
    not: 'Answers come by redirects only; the page listens to no other window.',
  },
  { id: '4.1.3', line: 'redirect addresses MUST be compared exactly', not: OF_THE_SERVER },
  {
    id: '4.2.4 (page)',
    line: 'the page of the authorization response SHOULD NOT have third-party resources or links',
    shownBy: ['%s ends with an address and the ID of its tokens', '%s carries the security headers'],
  },
  {
    id: '4.2.4 (state)',
    line: 'state SHOULD be worth nothing after its first use',
    shownBy: ['is taken once and refused when it is reused'],
  },
  {
    id: '4.3.1',
    line: 'a code in the history of the browser is worth nothing',
    shownBy: ['is taken once and refused when it is reused', 'is refused when it has expired'],
  },
  {
    id: '4.3.2',
    line: 'clients MUST NOT pass access tokens in addresses',
    shownBy: ['no password, code or token is in a log, an answer, an address or the database in clear'],
  },
  {
    id: '4.4.2 (issuer)',
    line: 'clients MUST keep the issuer of each request and bind it to the browser',
    shownBy: [
      'with another provider’s issuer is refused (RFC 9207)',
      'from another browser is refused, and the right one is not disturbed',
    ],
  },
  {
    id: '4.4.2 (addresses)',
    line: 'each issuer MUST have a redirect address of its own, which MUST be checked',
    shownBy: [
      'the request to %s asks for exactly its scopes, by PKCE with S256, with state and nonce',
      'to another provider’s address is refused, and its code goes nowhere',
    ],
  },
  {
    id: '4.5.3',
    line: 'injected codes are found by PKCE or nonce',
    shownBy: ['with somebody else’s code is refused, because its verifier does not fit', '%s signs nobody in'],
  },
  {
    id: '4.6.1',
    line: 'access tokens in authorization responses MUST be protected from injection',
    not: 'No access token comes in an authorization response.',
  },
  {
    id: '4.7.1',
    line: 'state that carries data MUST be protected',
    not: 'The state is a random number; what belongs to it is kept, sealed, by the server.',
  },
  { id: '4.8.2', line: 'downgrades of PKCE are refused', not: OF_THE_SERVER },
  {
    id: '4.9',
    line: 'access tokens MUST NOT go to other resource servers',
    shownBy: [
      'a next page at another host is not requested',
      'an answer that is not as documented ends the copy, and nothing is sent to where it points',
      'that points to %s is not followed there',
    ],
  },
  { id: '4.11.1', line: 'clients MUST NOT be open redirectors, also at the return', shownBy: NO_OPEN_REDIRECT },
  { id: '4.12', line: 'redirects with credentials MUST NOT be 307', not: OF_THE_SERVER },
  {
    id: '4.13',
    line: 'what proxies say MUST NOT be forged',
    shownBy: [
      'a client behind our proxy escapes no limit by entries of its own, and is told when to come back',
      'the address that the provider is told never follows the request’s host',
    ],
  },
  {
    id: '4.14',
    line: 'refresh tokens are kept confidential, replaced when rotated, and revoked at the end',
    shownBy: [
      'no password, code or token is in a log, an answer, an address or the database in clear',
      'are refreshed once when they expire, however many ask',
      'are erased and revoked when they are forgotten',
    ],
  },
  { id: '4.15', line: 'clients MUST NOT pass for resource owners', not: OF_THE_SERVER },
  { id: '4.16', line: 'pages of authorization MUST NOT be framed', not: OF_THE_SERVER },
  {
    id: '4.17',
    line: 'answers between windows are checked on both sides',
    not: 'Answers come by redirects only; the page listens to no other window.',
  },
];
