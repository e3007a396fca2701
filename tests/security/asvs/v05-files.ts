import type { Requirement } from '../requirement.ts';

export const V5: readonly Requirement[] = [
  { id: '5.1.1', line: 'it is documented which files are taken', not: 'Nobody can upload a file.' },
  {
    id: '5.2.1',
    line: 'files are no larger than can be handled',
    shownBy: [
      'a body that is too long is refused, with its length and without',
      '%s goes as far as its limit',
      'may have cards too large for one answer: they come in smaller ones, and one over the limit is skipped',
    ],
  },
  {
    id: '5.2.2',
    line: 'a file is what its extension says',
    not: 'Nobody can upload a file; what lies in a mailbox is carried octet for octet and never opened.',
  },
  {
    id: '5.2.3',
    line: 'compressed files are bounded before they are unpacked',
    not: 'The product unpacks no archive.',
  },
  {
    id: '5.3.1',
    line: 'files of strangers are not run as programs',
    not: 'The product serves its own built files from memory and exports as archives to be saved; it runs no file.',
  },
  {
    id: '5.3.2',
    line: 'paths are not made of foreign names',
    shownBy: [
      'mailboxes get as many folders as there are, on any file system, and none outside',
      'unzip finds the archive whole and unpacks every message, none changed or outside',
      '%s is not there',
      'a wrong address, a stranger, files whose days are over and files that were deleted are answered alike',
    ],
  },
  {
    id: '5.4.1',
    line: 'downloads have a name of their own in Content-Disposition',
    shownBy: [
      'a link gives the whole file, to be saved and never to be shown',
      'a wrong address, a stranger, files whose days are over and files that were deleted are answered alike',
    ],
  },
  {
    id: '5.4.2',
    line: 'names of files are encoded (RFC 6266)',
    shownBy: ['every title makes a field that programs of any age can read, and the new ones read it whole'],
  },
  {
    id: '5.4.3',
    line: 'files of strangers are scanned for viruses',
    open: 'For the owner of the product to decide, since portal.md and decisions.md are silent: nothing is scanned. An export is the subscriber’s own mail, must come out octet for octet (its digests are in the receipt that is signed), and is handed to nobody but who had it before; a scanner could only add a warning.',
  },
];
