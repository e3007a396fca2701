import type { Requirement } from '../requirement.ts';

export const V14: readonly Requirement[] = [
  {
    id: '14.1.1',
    line: 'sensitive data is put into levels',
    shownBy: ['puts each table of the database into one level of protection'],
  },
  {
    id: '14.1.2',
    line: 'each level has its protection',
    shownBy: ['puts each table of the database into one level of protection'],
  },
  {
    id: '14.2.1',
    line: 'nothing sensitive in addresses',
    open: 'portal.md §2 fixes it: the routes /oauth-callback and /oauth-callback-for-status take email, token_id and hash by their query, and decisions.md (Calls) a transfer ID by job_id. A token_id and a hash work in that browser only (a hash works in the browser that got it, and in no other that has seen it).',
  },
  {
    id: '14.2.2',
    line: 'nothing sensitive in caches of servers',
    shownBy: [
      '%s is cached nowhere',
      'no password and no token of it is anywhere, whether it completed or its owner stopped it while it was at rest',
    ],
  },
  {
    id: '14.2.3',
    line: 'nothing sensitive to trackers',
    shownBy: [
      'the first load of Home has at most 128 KB of script, gzipped, and asks no other host',
      'the session is kept under the keys of the specification and no other, and no secret stands in an address',
      '%s carries the security headers',
    ],
  },
  {
    id: '14.2.4',
    line: 'data is protected as documented',
    shownBy: [
      'no password, code or token is in a log, an answer, an address or the database in clear',
      'is erased so many days after its end, and not while its files lie somewhere',
      'the security log tells who did what by digests, and names nobody',
      'the database holds no address or client in clear',
    ],
  },
  {
    id: '14.3.1',
    line: 'the browser forgets when a session ends',
    shownBy: [
      'a reload keeps the signed-in visitor on the page, and Home forgets everything once it has asked',
      'entering Home forgets the wizard state and the session, and what was typed',
    ],
  },
  {
    id: '14.3.2',
    line: 'sensitive answers are not stored',
    shownBy: ['%s is cached nowhere', 'a link gives the whole file, to be saved and never to be shown'],
  },
  {
    id: '14.3.3',
    line: 'nothing sensitive in the storage of the browser',
    open: 'portal.md §3 fixes it: srcAccount stands in session storage with its password. decisions.md ("The password in session storage") has it removed as soon as the transfer has been ordered; a tab that is closed before takes it along.',
  },
];
