import type { Requirement } from '../requirement.ts';

const OPERATORS =
  'Lines go to standard output; who runs the process keeps, protects and forwards them. SECURITY.md says so.';

export const V16: readonly Requirement[] = [
  {
    id: '16.1.1',
    line: 'there is an inventory of the logs',
    shownBy: ['lists every event of the security log, and no other', 'write to the log and nowhere else'],
  },
  {
    id: '16.2.1',
    line: 'lines say when, where, who and what',
    shownBy: ['says in each line when, in UTC, what, and by whom, as one JSON object'],
  },
  {
    id: '16.2.2',
    line: 'times are in UTC and synchronized',
    shownBy: ['says in each line when, in UTC, what, and by whom, as one JSON object'],
  },
  { id: '16.2.3', line: 'logs go where they are documented to go', shownBy: ['write to the log and nowhere else'] },
  {
    id: '16.2.4',
    line: 'logs can be read by programs',
    shownBy: ['says in each line when, in UTC, what, and by whom, as one JSON object'],
  },
  {
    id: '16.2.5',
    line: 'sensitive data is logged as its level allows',
    shownBy: [
      'no password, code or token is in a log, an answer, an address or the database in clear',
      'the security log tells who did what by digests, and names nobody',
      'no log line has the address of a file in it',
    ],
  },
  {
    id: '16.3.1',
    line: 'sign-ins are logged, with their kind',
    shownBy: [
      'the security log tells who did what by digests, and names nobody',
      'has each sign-in at a provider, accepted or refused',
    ],
  },
  {
    id: '16.3.2',
    line: 'refused authorizations are logged',
    shownBy: ['has each call that is refused for who makes it, or for how it is made'],
  },
  {
    id: '16.3.3',
    line: 'the documented events are logged, and attempts to get around',
    shownBy: [
      'lists every event of the security log, and no other',
      'has each call that is refused for who makes it, or for how it is made',
    ],
  },
  {
    id: '16.3.4',
    line: 'unexpected errors and failures of TLS are logged',
    shownBy: [
      'to an error of ours is in general words, and the log leaves out what the error says',
      'uses TLS towards a host that the operator trusts, though nobody can check its certificate, and warns once',
    ],
  },
  {
    id: '16.4.1',
    line: 'nobody can write into the log',
    shownBy: ['nothing that a stranger sends begins a line of the log, or passes for one'],
  },
  { id: '16.4.2', line: 'logs are protected', not: OPERATORS },
  { id: '16.4.3', line: 'logs are sent to another system', not: OPERATORS },
  {
    id: '16.5.1',
    line: 'errors are told in general words',
    shownBy: [
      'to an error of ours is in general words, and the log leaves out what the error says',
      'a refusal repeats nothing of the input',
    ],
  },
  {
    id: '16.5.2',
    line: 'the product goes on when others fail',
    shownBy: [
      'that is down is reported as such',
      'of a provider that does not answer may still work later',
      'waits for a server that is down, and ends when it is back',
      'that the mail server does not accept is kept and retried later',
    ],
  },
  {
    id: '16.5.3',
    line: 'errors leave nothing open',
    shownBy: [
      'makes every call unavailable and leads every sign-in back to the portal, until it is back',
      'to an error of ours is in general words, and the log leaves out what the error says',
      'sends no password where TLS is required and not available',
    ],
  },
];
