import type { Requirement } from '../requirement.ts';

export const V8: readonly Requirement[] = [
  {
    id: '8.1.1',
    line: 'it is documented who may do what, and to what',
    shownBy: ['tells who may make each call, and of no other'],
  },
  {
    id: '8.1.2',
    line: 'it is documented who may see which fields',
    shownBy: [
      'tells who may make each call, and of no other',
      'tells numbers, and no subject, folder, address or file',
    ],
  },
  {
    id: '8.2.1',
    line: 'functions are for who may use them',
    shownBy: [
      'is refused to a stranger, to a token of another mailbox, and to one that has run out',
      '%s starts nothing',
      'an export is deleted at once by whoever may manage its transfer, and by nobody else',
    ],
  },
  {
    id: '8.2.2',
    line: 'data is for who may have it (IDOR)',
    shownBy: [
      'neither fetches nor deletes the files',
      'nobody who signs in to another mailbox, or to this address at a server of their own',
      'is used by the browser that began it, and by no other that has seen its ID',
      'a hash works in the browser that got it, and in no other that has seen it',
    ],
  },
  {
    id: '8.2.3',
    line: 'fields are for who may see them',
    shownBy: ['tells numbers, and no subject, folder, address or file'],
  },
  {
    id: '8.3.1',
    line: 'the server decides who may',
    shownBy: [
      'an export is deleted at once by whoever may manage its transfer, and by nobody else',
      'a token of another address or provider starts nothing',
    ],
  },
  {
    id: '8.4.1',
    line: 'tenants are kept apart',
    not: 'One installation serves one operator; subscribers are kept apart as users (8.2.2).',
  },
];
