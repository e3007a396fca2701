import type { Page } from 'playwright';
import type { TransferStatus } from '../../src/contract/calls/status.ts';
import { type SessionName, TRANSFER_ID, type Wire } from '../support/portal-alone.ts';
import {
  COMPARING,
  FORWARDED,
  FULL,
  movedTo,
  NEEDS_CONSENT,
  NEEDS_PERMISSION,
  NEEDS_PASSWORD,
  RUNNING,
  STOPPED,
  WAITING,
} from './owned-transfer.ts';

/** Something to look at: where it is, and how it comes about. */
export type Sight = {
  readonly name: string;
  readonly at: string;
  readonly session?: SessionName;
  readonly wire?: (wire: Wire) => void;
  readonly act?: (page: Page) => Promise<void>;
  readonly shows: string;
  /** It is only there for a moment: the clock stands still from the beginning. */
  readonly passing?: true;
};

const REFUSED = { status: 401, json: { error: 'INVALID_CREDENTIALS', message: '' } };
const press =
  (...names: readonly string[]) =>
  async (page: Page) => {
    for (const name of names) await page.getByRole('button', { name, exact: true }).last().click();
  };

function sight(name: string, status: TransferStatus, shows: string, act?: (page: Page) => Promise<void>): Sight {
  return {
    name,
    at: `/status?migration_id=${TRANSFER_ID}`,
    wire: (wire) => {
      wire.answer('/api/v2/status/', { json: status });
      for (const call of ['cancel', 'resume', 'take-back', 'again', 'forwarding-off'])
        wire.answer(`/api/v2/transfers/${call}/`, REFUSED);
    },
    shows,
    ...(act === undefined ? {} : { act }),
  };
}

function takenBack(count: number): TransferStatus {
  const moved = movedTo('google');
  return {
    ...moved,
    emailmigration: { ...moved.emailmigration, status: 'completed', done: 12, total: 12, taken_back: count },
  };
}

/** A transfer as its owner sees it, and every dialog. */
export const LIFE_SIGHTS: readonly Sight[] = [
  sight('a transfer that needs room', FULL, 'Your new mailbox is full'),
  sight('contacts that need a permission', NEEDS_PERMISSION, 'Your contacts need your permission'),
  sight('the permission for contacts', NEEDS_PERMISSION, 'Sign in to AOL', press('Allow contacts')),
  sight('a guide to the new mailbox', movedTo('google'), 'imap.gmail.com', press('Set up your phone and computer')),
  sight('a transfer that is stopped', STOPPED, 'You stopped this transfer.'),
  sight('a transfer that was done, and taken back', takenBack(12), 'What was copied was taken back.'),
  sight('a transfer that was done, and of which a part was taken back', takenBack(5), 'We left the rest as it is.'),
  sight(
    'files for who has shown nothing',
    { emailmigration: movedTo('other').emailmigration, files: 'there', limited: true },
    'press “Show more” and sign in',
  ),
  sight(
    'a transfer that was taken back',
    { ...STOPPED, emailmigration: { ...STOPPED.emailmigration, status: 'review', taken_back: 300 } },
    '300 messages taken back',
  ),
  sight('a transfer that waits', WAITING, 'does not let us go on right now'),
  sight('a transfer that is compared', COMPARING, 'Checking what arrived'),
  sight('the folders', RUNNING, '100 of 800', (page) => page.getByText('Folder by folder').click()),
  sight('the stop', RUNNING, 'Stop it now', press('Stop the transfer')),
  sight('the stop that is refused', RUNNING, 'That did not work', press('Stop the transfer', 'Stop it now')),
  sight('a password that is missing', NEEDS_PASSWORD, 'Invalid password.', press('Put it right', 'Carry on')),
  sight('a sign-in that is to come', NEEDS_CONSENT, 'Sign in to Gmail', press('Put it right')),
  sight('a taking back', STOPPED, 'You cannot undo this.', press('Take back what was copied')),
  sight(
    'a taking back that wants a password',
    STOPPED,
    'New mailbox password',
    press('Take back what was copied', 'Take it back'),
  ),
  sight('a copy of what is new', movedTo('other'), 'Start copying', press('Copy what is new')),
  sight('a copy to Gmail', movedTo('google'), 'First, sign in', press('Copy what is new')),
  sight('the receipt', STOPPED, 'A page to read or print', press('Download the receipt')),
  sight('the end of forwarding', FORWARDED, 'Turn it off', press('Stop forwarding')),
];
