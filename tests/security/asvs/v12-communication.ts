import type { Requirement } from '../requirement.ts';

export const V12: readonly Requirement[] = [
  {
    id: '12.1.1',
    line: 'TLS 1.2 and 1.3 only',
    shownBy: ['speak no TLS older than 1.2, choose no cipher, and look past a certificate in one place only'],
  },
  {
    id: '12.1.2',
    line: 'recommended cipher suites only',
    shownBy: ['speak no TLS older than 1.2, choose no cipher, and look past a certificate in one place only'],
  },
  { id: '12.1.3', line: 'client certificates are checked', not: 'Nobody signs in by a client certificate.' },
  {
    id: '12.2.1',
    line: 'TLS between clients and public services',
    shownBy: [
      'is refused for %s, unless it is named',
      'of any kind tells the browser to stay with TLS, where there is any',
    ],
  },
  {
    id: '12.2.2',
    line: 'public services have publicly trusted certificates',
    not: 'The certificate is that of the proxy in front; SECURITY.md asks the operator for it.',
  },
  {
    id: '12.3.1',
    line: 'all connections in and out are encrypted',
    shownBy: ['is refused for %s, unless it is named', 'of %s, such as %s, is refused unless it is named'],
  },
  {
    id: '12.3.2',
    line: 'certificates are checked before anything is said',
    shownBy: [
      'with an untrusted certificate is not sent the password',
      'a certificate of another name is refused by %s',
      'is sent the password over TLS with a trusted certificate, and with no other',
    ],
  },
  {
    id: '12.3.3',
    line: 'TLS between services of the inside',
    shownBy: [
      'is refused for %s, unless it is named',
      'of an SMTP server means that it must take up TLS before anything is sent, unless it is named',
    ],
  },
  {
    id: '12.3.4',
    line: 'certificates of the inside are trusted one by one',
    shownBy: [
      'a trusted host whose certificate is named is spoken to with that one only, by %s',
      'a named authority vouches for its own names only',
      'scripts are given to a trusted server only with the certificate that is named for it',
    ],
  },
];
