import type { Requirement } from '../requirement.ts';

export const V15: readonly Requirement[] = [
  {
    id: '15.1.1',
    line: 'times for updates of packages are documented',
    shownBy: ['promises a time for each severity that the registry tells apart, and the worse the sooner'],
    page: true,
  },
  {
    id: '15.1.2',
    line: 'there is a bill of materials, from trusted sources',
    shownBy: ['that runs is in the bill of materials', 'comes from the registry of npm, with its checksum'],
  },
  {
    id: '15.1.3',
    line: 'what costs much is documented',
    shownBy: ['tells every limit with its numbers, and no other'],
  },
  {
    id: '15.2.1',
    line: 'packages are updated in time',
    shownBy: [
      'that runs is one of which the registry knows nothing bad',
      'that runs is judged by what the registry says, and by nothing where it says nothing',
      'is named by one version, and no range',
    ],
  },
  {
    id: '15.2.2',
    line: 'what costs much does not stop the house',
    shownBy: [
      'a server that lists mailboxes without end is given up before it has taken the memory',
      'is set aside for the operator when it has done so twice',
      'one network holds so many connections, and frees them when they end',
      'a request that arrives too slowly does not keep its connection',
    ],
  },
  {
    id: '15.2.3',
    line: 'no test or development functions in production',
    shownBy: [
      'the sandbox and the viewer are refused: %o',
      'a build that is not asked for the inspector has nothing of it',
    ],
  },
  {
    id: '15.3.1',
    line: 'answers have the needed fields only',
    shownBy: ['tells numbers, and no subject, folder, address or file', '%s is passed on'],
  },
  {
    id: '15.3.2',
    line: 'redirects of other servers are not followed',
    shownBy: [
      'that points to %s is not followed there',
      'that redirects in a circle is abandoned',
      'an answer of %i %j is a general error',
    ],
  },
  {
    id: '15.3.3',
    line: 'no mass assignment',
    shownBy: ['with fields that a call does not know changes nothing by them'],
  },
  {
    id: '15.3.4',
    line: 'the client’s address can not be forged',
    shownBy: [
      'a client behind our proxy escapes no limit by entries of its own, and is told when to come back',
      '%s with %s behind %i proxies is %s',
    ],
  },
  {
    id: '15.3.5',
    line: 'types are checked strictly',
    shownBy: ['the body %# is refused as a bad request', 'what can’t be a password counts as an incorrect one'],
  },
  {
    id: '15.3.6',
    line: 'no prototype pollution',
    shownBy: [
      'the body %# is refused as a bad request',
      'with fields that a call does not know changes nothing by them',
    ],
  },
  {
    id: '15.3.7',
    line: 'no pollution of parameters',
    shownBy: ['with a parameter twice counts by its first, and a query never stands for a body'],
  },
];
