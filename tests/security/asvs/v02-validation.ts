import type { Requirement } from '../requirement.ts';

export const V2: readonly Requirement[] = [
  {
    id: '2.1.1',
    line: 'it is documented how input is validated',
    shownBy: [
      'the document and the routes are the same',
      'the document is OpenAPI 3.1 and speaks snake case, as the wire does',
      'query parameters say whether they are required',
    ],
  },
  {
    id: '2.1.2',
    line: 'it is documented which data must fit each other',
    shownBy: ['tells what must fit each other, and each that does not fit is refused as it says'],
  },
  {
    id: '2.1.3',
    line: 'limits of the business logic are documented',
    shownBy: ['tells every limit with its numbers, and no other'],
  },
  {
    id: '2.2.1',
    line: 'input is validated against what is expected',
    shownBy: [
      'the body %# is refused as a bad request',
      '%j is no address',
      'what can’t be a password counts as an incorrect one',
      'the ID %j is not found',
    ],
  },
  {
    id: '2.2.2',
    line: 'input is validated where it is trusted',
    shownBy: ['%s is refused without a sign-in', 'a body that is too long is refused, with its length and without'],
  },
  {
    id: '2.2.3',
    line: 'data that belongs together fits',
    shownBy: [
      '%s is refused without a sign-in',
      'contacts to another provider are refused by their name',
      'a phone is notified on the primary move only',
      'a token of another address or provider starts nothing',
    ],
  },
  {
    id: '2.3.1',
    line: 'steps are taken in their order, and none is left out',
    shownBy: [
      '%s starts nothing',
      'is refused to a stranger, to a token of another mailbox, and to one that has run out',
      'a session that was tampered with starts at Home',
    ],
  },
  {
    id: '2.3.2',
    line: 'limits of the business logic hold',
    shownBy: [
      'one mailbox is transferred so often',
      'one mailbox has so many exports that can be downloaded, and the subscriber is told what to do',
      'one contact is told of so many transfers, whoever orders them',
    ],
  },
  {
    id: '2.3.3',
    line: 'an operation succeeds whole or not at all',
    shownBy: [
      'of news that did not come true is not sent',
      'gives a group back as it was, and forgets it when its outcome is known',
      'refuses what a worker writes after another one has taken the transfer over',
    ],
  },
  {
    id: '2.3.4',
    line: 'what there is once is not given twice',
    shownBy: [
      'submitted twice is one transfer',
      'is not started beside another one of the same account',
      'keeps every other worker away until it has expired or is released',
      'are refreshed once when two processes ask',
    ],
  },
  {
    id: '2.4.1',
    line: 'too many calls by programs are held back',
    shownBy: [
      'two hundred guesses from fifty addresses hardly reach the mailbox, and its owner gets in when told',
      'one client can guess at few mailboxes only',
      'support messages are limited by client',
      'the support desk gets so many letters about one mailbox, wherever they come from',
      'of one client are limited in number',
    ],
  },
];
