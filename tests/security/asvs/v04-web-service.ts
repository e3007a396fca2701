import type { Requirement } from '../requirement.ts';

export const V4: readonly Requirement[] = [
  {
    id: '4.1.1',
    line: 'answers name their type and charset',
    shownBy: ['with a body names its type, and a text its charset', 'an asset is compressed and cached for good'],
  },
  {
    id: '4.1.2',
    line: 'calls are not led from HTTP to HTTPS',
    not: 'The product speaks HTTP to the proxy that has the certificate, and leads no call anywhere; what is asked for in clear is that proxy’s.',
  },
  {
    id: '4.1.3',
    line: 'nobody can forge what a proxy says',
    shownBy: [
      'a client behind our proxy escapes no limit by entries of its own, and is told when to come back',
      '%s with %s behind %i proxies is %s',
      'the address that the provider is told never follows the request’s host',
    ],
  },
  {
    id: '4.2.1',
    line: 'no request smuggling',
    shownBy: ['with %s is refused, and nothing behind it is taken for a request'],
  },
  { id: '4.3.1', line: 'GraphQL queries are bounded', not: 'There is no GraphQL.' },
  { id: '4.3.2', line: 'no GraphQL introspection', not: 'There is no GraphQL.' },
  { id: '4.4.1', line: 'WebSockets over TLS', not: 'There are no WebSockets; live updates are server-sent events.' },
  { id: '4.4.2', line: 'WebSockets check the origin', not: 'There are no WebSockets.' },
  { id: '4.4.3', line: 'WebSockets have safe tokens', not: 'There are no WebSockets.' },
  { id: '4.4.4', line: 'WebSocket tokens come of the HTTPS session', not: 'There are no WebSockets.' },
];
