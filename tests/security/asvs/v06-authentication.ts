import type { Requirement } from '../requirement.ts';

const NO_PASSWORDS = 'Passwords are chosen and changed at the mail services; the product takes those that they take.';
const NO_SECOND_FACTOR =
  'The product has no second factor, lookup secret, one-time password or code: letters and SMS only tell news.';

export const V6: readonly Requirement[] = [
  {
    id: '6.1.1',
    line: 'it is documented how guesses are held back, and nobody is locked out',
    shownBy: ['tells every limit with its numbers, and no other'],
  },
  { id: '6.1.2', line: 'a list of words for no password is documented', not: NO_PASSWORDS },
  { id: '6.1.3', line: 'all ways to sign in are documented', shownBy: ['tells of every way to sign in'] },
  { id: '6.2.1', line: 'passwords have 8 characters or more', not: NO_PASSWORDS },
  { id: '6.2.2', line: 'passwords can be changed', not: NO_PASSWORDS },
  { id: '6.2.3', line: 'a change asks for the current password', not: NO_PASSWORDS },
  { id: '6.2.4', line: 'common passwords are refused', not: NO_PASSWORDS },
  { id: '6.2.5', line: 'passwords may be of any signs', shownBy: ['like %j is tried exactly as it was typed'] },
  {
    id: '6.2.6',
    line: 'fields of passwords are masked',
    shownBy: ['a password for %s can be shown, hidden and pasted'],
  },
  {
    id: '6.2.7',
    line: 'passwords can be pasted and filled in',
    shownBy: ['a password for %s can be shown, hidden and pasted'],
  },
  {
    id: '6.2.8',
    line: 'a password is verified as it was given',
    shownBy: [
      'is neither cut, trimmed nor made lower case before it is tried',
      'like %j is tried exactly as it was typed',
    ],
  },
  {
    id: '6.2.9',
    line: 'passwords of 64 characters are let through',
    shownBy: ['like %j is tried exactly as it was typed'],
  },
  { id: '6.2.10', line: 'passwords do not run out', not: NO_PASSWORDS },
  { id: '6.2.11', line: 'words that can be guessed are refused', not: NO_PASSWORDS },
  { id: '6.2.12', line: 'breached passwords are refused', not: NO_PASSWORDS },
  {
    id: '6.3.1',
    line: 'guesses and stuffing are held back as documented',
    shownBy: [
      'two hundred guesses from fifty addresses hardly reach the mailbox, and its owner gets in when told',
      'is counted when it is begun, whether or not the guesser stays for the answer',
      'gets in from anywhere in a browser that has signed in before, through six hours of guesses',
    ],
  },
  {
    id: '6.3.2',
    line: 'there are no default accounts',
    shownBy: ['the sandbox and the viewer are refused: %o', 'has no value of its own in the settings'],
  },
  {
    id: '6.3.3',
    line: 'more than one factor',
    open: 'portal.md §1 and decisions.md ("Who may do what") fix it: a visitor signs in with the password of the legacy mailbox, which has no second factor, and no contact is confirmed that a code could go to. SECURITY.md says what makes up for it.',
  },
  {
    id: '6.3.4',
    line: 'all ways to sign in are equally strong',
    shownBy: [
      'nobody who signs in to another mailbox, or to this address at a server of their own',
      'the password that the export was ordered with still opens it, and no other does',
      'a password that the legacy service refuses opens nothing while it runs, even if it was the one',
      'is refused to someone who has signed in under that address at a mail server of their own',
    ],
  },
  { id: '6.4.1', line: 'initial passwords are random and short-lived', not: 'The product makes no password.' },
  {
    id: '6.4.2',
    line: 'no password hints or secret questions',
    not: 'There are none; the pages and their fields are those of portal.md.',
  },
  { id: '6.4.3', line: 'a safe way for a forgotten password', not: NO_PASSWORDS },
  { id: '6.4.4', line: 'a lost factor is replaced as safely as it was given', not: NO_SECOND_FACTOR },
  { id: '6.5.1', line: 'codes work once', not: NO_SECOND_FACTOR },
  { id: '6.5.2', line: 'lookup secrets are hashed', not: NO_SECOND_FACTOR },
  { id: '6.5.3', line: 'codes are random', not: NO_SECOND_FACTOR },
  { id: '6.5.4', line: 'codes have 20 bits or more', not: NO_SECOND_FACTOR },
  { id: '6.5.5', line: 'codes run out', not: NO_SECOND_FACTOR },
  { id: '6.6.1', line: 'SMS codes only beside stronger ways', not: NO_SECOND_FACTOR },
  { id: '6.6.2', line: 'codes belong to one request', not: NO_SECOND_FACTOR },
  { id: '6.6.3', line: 'codes can not be guessed', not: NO_SECOND_FACTOR },
  {
    id: '6.8.1',
    line: 'nobody is somebody else by another identity provider',
    shownBy: [
      'a token of another address or provider starts nothing',
      'an address that the provider has not verified proves nothing',
      'an address %s is believed to be somebody: %s',
    ],
  },
  {
    id: '6.8.2',
    line: 'signatures of assertions are always checked',
    shownBy: ['%s signs nobody in', 'that is as it should be signs its owner in'],
  },
  { id: '6.8.3', line: 'SAML assertions are used once', not: 'There is no SAML.' },
  {
    id: '6.8.4',
    line: 'expected strength of a sign-in is checked',
    not: 'No function expects a certain strength or recentness of a provider’s sign-in; the weakest is assumed.',
  },
];
