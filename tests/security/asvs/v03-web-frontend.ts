import type { Requirement } from '../requirement.ts';

export const V3: readonly Requirement[] = [
  {
    id: '3.2.1',
    line: 'browsers take no answer for what it is not',
    shownBy: [
      'a link gives the whole file, to be saved and never to be shown',
      '%s carries the security headers',
      'with a body names its type, and a text its charset',
    ],
  },
  {
    id: '3.2.2',
    line: 'text is shown by safe functions',
    shownBy: ['write no markup, listen to no other window, and set no cookie', 'no script can write markup'],
  },
  {
    id: '3.3.1',
    line: 'cookies are Secure, with a prefix',
    shownBy: ['behind TLS the browser is told to stay there, and the sign-in cookie is bound to the host'],
  },
  {
    id: '3.3.2',
    line: 'cookies have the SameSite that fits them',
    shownBy: [
      'behind TLS the browser is told to stay there, and the sign-in cookie is bound to the host',
      'on %s at another port posts by forms, scripts, beacons and images, and nothing happens',
    ],
  },
  {
    id: '3.3.3',
    line: 'cookies have the prefix __Host-',
    shownBy: ['behind TLS the browser is told to stay there, and the sign-in cookie is bound to the host'],
  },
  {
    id: '3.3.4',
    line: 'cookies that no script needs are HttpOnly',
    shownBy: [
      'the browser that ordered it, by a cookie that no script reads',
      'write no markup, listen to no other window, and set no cookie',
    ],
  },
  {
    id: '3.4.1',
    line: 'HSTS for a year on all answers, with subdomains',
    shownBy: ['of any kind tells the browser to stay with TLS, where there is any'],
  },
  {
    id: '3.4.2',
    line: 'CORS lets in nobody but who is meant',
    shownBy: ['of any kind lets no page of another origin read it'],
  },
  {
    id: '3.4.3',
    line: 'a Content-Security-Policy with object-src and base-uri none',
    shownBy: ['%s carries the security headers'],
  },
  {
    id: '3.4.4',
    line: 'nosniff on all answers',
    shownBy: ['%s carries the security headers', 'a link gives the whole file, to be saved and never to be shown'],
  },
  { id: '3.4.5', line: 'a policy for the referrer', shownBy: ['%s carries the security headers'] },
  {
    id: '3.4.6',
    line: 'frame-ancestors on all answers',
    shownBy: ['%s carries the security headers', 'a link gives the whole file, to be saved and never to be shown'],
  },
  {
    id: '3.5.1',
    line: 'requests of other origins are refused (CSRF)',
    shownBy: [
      'a post with %j is answered %i',
      'on %s at another port posts by forms, scripts, beacons and images, and nothing happens',
    ],
  },
  {
    id: '3.5.2',
    line: 'no call can be made without a CORS preflight',
    shownBy: ['a body of type %s is not taken', 'a post with %j is answered %i'],
  },
  {
    id: '3.5.3',
    line: 'what changes something is no GET, or Sec-Fetch is checked',
    shownBy: [
      '%s %s is answered %i in JSON',
      'a start that another site caused is refused',
      'begins no sign-in at a provider by leading the visitor there',
    ],
  },
  {
    id: '3.5.4',
    line: 'separate applications have separate host names',
    not: 'The product is one application; SECURITY.md asks the operator for a host name of its own, and the third party of the footer is in a sandboxed frame of its own origin.',
  },
  {
    id: '3.5.5',
    line: 'messages of other windows are checked',
    not: 'The page listens to no other window; a static test holds that (3.3.4).',
  },
  {
    id: '3.7.1',
    line: 'no client-side technologies that are out of support',
    shownBy: ['%s carries the security headers', 'write no markup, listen to no other window, and set no cookie'],
  },
  {
    id: '3.7.2',
    line: 'redirects lead to known hosts only',
    shownBy: [
      'a page that is requested by another name of this machine is redirected to PUBLIC_URL, but by no other name',
      'an unknown provider and one without a client are told apart',
      'the address that the provider is told never follows the request’s host',
    ],
  },
];
