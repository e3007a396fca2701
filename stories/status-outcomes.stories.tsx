import type { TransferStatus } from '../src/contract/calls/status.ts';
import { at } from './at.tsx';
import { EMPTY, TRANSFER } from './people.ts';

/** Possible results of the comparison and of the contacts, and very long names. */
export default { title: 'Finished/Outcomes' };

const LONG = 'pat.rivera-de-la-fuente.and.family.of.the.harbor.house.since.1998@the-cooperative-of-san-bruno.example';
const FOLDER = 'Archive/Clubs/The Peninsula Historical Gardening Society/Minutes and correspondence, 1998 to 2009';
const ended = { ...EMPTY.emailmigration, status: 'completed', done: 1_204, total: 1_204, bytes: 98_000_000 };
const resting = 'status.page.settled.resting';
const shown = (status: TransferStatus) => at(resting, { transferId: TRANSFER, status });

export const Differs = shown({
  emailmigration: {
    ...ended,
    status: 'review',
    lost: 2,
    duplicated: 1,
    failure:
      'We compared both mailboxes at the end. In the new one, 2 messages are missing and 1 message is there twice. Nothing was deleted from the mailbox that your mail comes from. Please contact support with your transfer ID.',
  },
  destination: 'google',
});
export const FolderLeft = shown({
  emailmigration: {
    ...ended,
    status: 'review',
    skipped: [{ mailbox: 'Archive/2009', reason: 'The mail server does not let us read this folder.' }],
    failure:
      'We could not copy or check 1 folder. We copied all the other mail that we were given. Nothing was deleted from the mailbox that your mail comes from. Please contact support with your transfer ID.',
  },
  destination: 'google',
});
export const ContactsWithNotes = shown({
  emailmigration: { ...ended, kept: 3, present: 4, moved: 2 },
  contactsmigration: {
    ...ended,
    done: 212,
    total: 212,
    bytes: 0,
    contacts: { copied: 180, remarked: 1, present: 20, completed: 10, refused: 1 },
    skipped: [{ mailbox: 'Contacts', subject: 'Harbor House', reason: 'The new address book did not take it.' }],
    remarks: [{ mailbox: 'Contacts', subject: 'Ann Lee', reason: 'There is no place for these there: photo.' }],
  },
  destination: 'google',
});
export const ContactsAlreadyThere = shown({
  emailmigration: ended,
  contactsmigration: {
    ...ended,
    done: 30,
    total: 30,
    bytes: 0,
    contacts: { copied: 0, remarked: 0, present: 30, completed: 0, refused: 0 },
  },
  destination: 'google',
});
export const LongNames = shown({
  emailmigration: {
    ...ended,
    folders: [{ name: FOLDER, done: 1_204, total: 1_204 }],
    skipped: [{ mailbox: FOLDER, subject: FOLDER, reason: 'The message is too large for the new mailbox.' }],
  },
  emailforwarding: {
    status: 'completed',
    since: '2025-10-20T11:47:00-07:00',
    finished: '2025-10-20T11:47:00-07:00',
    to: LONG,
  },
  destination: 'other',
  route: { from: LONG, to: LONG },
});
