import type { Requirement } from '../requirement.ts';

export const V7: readonly Requirement[] = [
  {
    id: '7.1.1',
    line: 'life and inactivity of sessions are documented',
    shownBy: ['tells how long each session is good'],
  },
  {
    id: '7.1.2',
    line: 'it is documented how many sessions may be open',
    shownBy: ['lets any number of sessions be open, as it says'],
  },
  { id: '7.1.3', line: 'federated sessions are documented', shownBy: ['tells how long each session is good'] },
  {
    id: '7.2.1',
    line: 'session tokens are verified by the server',
    shownBy: [
      'a token that was never issued is refused',
      'nobody who signs in to another mailbox, or to this address at a server of their own',
    ],
  },
  {
    id: '7.2.2',
    line: 'session tokens are made for each session',
    shownBy: [
      'the right password is proven by a sign-in and answered with a session token',
      'the session token is valid for a day',
    ],
  },
  {
    id: '7.2.3',
    line: 'session tokens are random, of 128 bits or more',
    shownBy: [
      'the right password is proven by a sign-in and answered with a session token',
      'the browser that ordered it, by a cookie that no script reads',
      'take what must not be guessed from the system’s random numbers',
    ],
  },
  {
    id: '7.2.4',
    line: 'a sign-in makes a new session token and ends the old one',
    shownBy: [
      'gives a new bearer, and ends the earlier ones of that browser',
      'gives the browser a new key, so that whoever knew the former one gets nothing by it',
      'to a mailbox elsewhere gives no bearer, and ends none',
    ],
  },
  {
    id: '7.3.1',
    line: 'sessions end by inactivity',
    shownBy: [
      'who signs in to the mailbox it reads, by the bearer or in that browser',
      'a hash expires, and none can be derived from the address',
    ],
  },
  {
    id: '7.3.2',
    line: 'sessions end after a time',
    shownBy: [
      'the session token is valid for a day',
      'who signs in to the mailbox it reads, by the bearer or in that browser',
    ],
  },
  {
    id: '7.4.1',
    line: 'a session that has ended is of no use',
    shownBy: [
      'the session token is valid for a day',
      'ends the bearer and what the cookie of that browser opens, and nobody else’s',
      'ends the list of transfers, and the use of a sign-in at a provider that no transfer has taken',
      'is refused to a stranger, to a token of another mailbox, and to one that has run out',
    ],
  },
  {
    id: '7.4.2',
    line: 'sessions end with their account',
    shownBy: ['is erased at once when its subscriber asks for it, files and running transfers with it'],
  },
  {
    id: '7.4.3',
    line: 'other sessions can be ended after a change of password',
    not: 'No password can be changed here.',
  },
  {
    id: '7.4.4',
    line: 'a way to sign out on all pages',
    shownBy: [
      'is offered on %s to who has signed in',
      'is offered after a sign-in on the status page',
      'asks first on %s, and who stays keeps everything',
      'ends the bearer and what the cookie of that browser opens, and nobody else’s',
      'who signs out leaves a bearer and a cookie that open nothing of the mailbox',
      'who signs out without a line to the server is told so, and the browser has forgotten',
    ],
  },
  {
    id: '7.4.5',
    line: 'operators can end sessions',
    shownBy: ['is erased at once when its subscriber asks for it, files and running transfers with it'],
  },
  {
    id: '7.5.1',
    line: 'changes of an account ask for the password again',
    not: 'There is no account here with an address, number or factor that could be changed.',
  },
  {
    id: '7.5.2',
    line: 'users see and end their sessions',
    shownBy: [
      'tells when the other browsers of the mailbox signed in and were last used, and nothing else',
      'ends the bearers and cookies of every browser that is signed in to the mailbox, and of no other mailbox',
      'ends the lists and the sign-ins at providers of those browsers',
      'ends a status page that another tab follows: signed out %s',
      'who forgot to sign out at another computer sees it and ends it from here',
    ],
  },
  {
    id: '7.6.1',
    line: 'sessions at a provider and here end as documented',
    shownBy: [
      'is refused when it has expired',
      'a hash expires, and none can be derived from the address',
      'that no transfer keeps are erased after two hours; those that one keeps are not',
      'are erased and revoked when they are forgotten',
    ],
  },
  {
    id: '7.6.2',
    line: 'no session begins without the user',
    shownBy: [
      'a start that another site caused is refused',
      'begins no sign-in at a provider by leading the visitor there',
      'a foreign page can lead nobody back into a tab %s',
    ],
  },
];
