import type { Attention, TransferStatus } from '../src/contract/calls/status.ts';
import type { Provider } from '../src/contract/provider.ts';
import { blankContext, NOTHING_TYPED } from '../machines/wizard.context.ts';
import type { Context, Typed } from '../machines/wizard.types.ts';
import { settings } from '../src/portal/settings.ts';

export const PAT = 'pat.rivera@sanbrunocable.example';
export const PASSWORD = 'correct horse battery staple';
export const TRANSFER = '3f9c0a517d2e4b68a1c4e0f2b7d95836';
export const TOKEN = 'f'.repeat(32);

/** The fixed time of all stories: forty-one days before access ends. */
export const TODAY = Date.parse('2025-10-20T12:00:00-07:00');

export const BLANK: Context = blankContext({ settings, now: TODAY });

export const SIGNED_IN: Partial<Context> = {
  source: { email: PAT, password: PASSWORD, provider: 'sanbruno' },
  operations: ['emailmigration', 'contactsmigration'],
};

/** Pat's three options, each as on the page that starts the transfer. */
export const MOVING: Partial<Context> = {
  ...SIGNED_IN,
  checkSanBrunoOnOauthCallback: true,
  destination: { email: PAT, provider: 'yahoo', tokenId: TOKEN },
};
export const TO_GMAIL: Partial<Context> = {
  ...SIGNED_IN,
  googleTermsAccepted: true,
  destination: { email: 'pat.rivera@gmail.com', provider: 'google', tokenId: TOKEN },
};
export const DOWNLOADING: Partial<Context> = {
  ...SIGNED_IN,
  destination: { email: '', provider: 'file_export' },
  emailExportType: 'mbox',
  contactsExportType: 'vcf',
};

/** What a tab knows of what it has ordered. */
export function ordered(order: Partial<Context>): Partial<Context> {
  const { destination = null } = order;
  return {
    ...order,
    transferId: TRANSFER,
    destination: destination === null ? null : { ...destination, transferId: TRANSFER },
  };
}

export const RUNNING: TransferStatus = {
  emailmigration: {
    status: 'inprogress',
    done: 8_214,
    total: 21_403,
    bytes: 1_934_201_332,
    started: '2025-10-20T09:12:00-07:00',
  },
  contactsmigration: { status: 'started', started: '2025-10-20T09:12:00-07:00' },
};

export const MOVED: TransferStatus = {
  emailmigration: {
    status: 'completed',
    done: 21_403,
    total: 21_403,
    bytes: 4_902_118_007,
    skipped: [
      {
        mailbox: 'Archive/2009',
        reason: 'The message is larger than the destination takes.',
        subject: 'Photos of the reunion',
      },
    ],
    lost: 0,
    duplicated: 0,
    changed: 0,
    started: '2025-10-20T09:12:00-07:00',
    finished: '2025-10-20T11:47:00-07:00',
  },
  contactsmigration: {
    status: 'review',
    done: 180,
    total: 212,
    started: '2025-10-20T09:12:00-07:00',
    finished: '2025-10-20T09:15:00-07:00',
  },
};

/** Everything was copied, without contacts. */
const MOVED_ELSEWHERE: TransferStatus = {
  emailmigration: { ...MOVED.emailmigration, status: 'completed', done: 21_403, skipped: [] },
  destination: 'other',
};

/** The mailbox was empty. */
export const EMPTY: TransferStatus = {
  emailmigration: {
    status: 'completed',
    done: 0,
    total: 0,
    bytes: 0,
    lost: 0,
    duplicated: 0,
    changed: 0,
    started: '2025-10-20T09:12:00-07:00',
    finished: '2025-10-20T09:13:00-07:00',
  },
};

export const EXPORTED: TransferStatus = {
  emailmigration: {
    status: 'completed',
    done: 21_403,
    total: 21_403,
    bytes: 4_902_118_007,
    lost: 0,
    duplicated: 0,
    changed: 0,
    started: '2025-10-20T09:12:00-07:00',
    finished: '2025-10-20T11:47:00-07:00',
  },
  contactsmigration: {
    status: 'completed',
    done: 212,
    total: 212,
    started: '2025-10-20T09:12:00-07:00',
    finished: '2025-10-20T09:15:00-07:00',
  },
  files: 'there',
  exports: [1, 2].map((part) => ({
    url: `#part-${part}`,
    name: `san-bruno-export-${part}-of-2.zip`,
    size: part === 1 ? 2_147_483_648 : 1_402_118_007,
    sha256: String(part).repeat(64),
    expires: '2025-10-27T11:47:00-07:00',
  })),
};

export const EXPORTING: TransferStatus = { ...RUNNING, files: 'coming' };

/** The operator's disk is full. */
export const PAUSED: TransferStatus = {
  emailmigration: {
    status: 'started',
    done: 8_214,
    total: 21_403,
    bytes: 1_934_201_332,
    waiting: { reason: 'disk' },
    started: '2025-10-20T09:12:00-07:00',
  },
  contactsmigration: { status: 'inprogress', done: 212, total: 212, started: '2025-10-20T09:12:00-07:00' },
  files: 'coming',
};

/** The messages are copied, but the address book can't be reached; the files are written after that. */
export const AWAITING_CONTACTS: TransferStatus = {
  emailmigration: {
    status: 'started',
    done: 21_403,
    total: 21_403,
    bytes: 4_902_118_007,
    started: '2025-10-20T09:12:00-07:00',
  },
  contactsmigration: {
    status: 'started',
    done: 120,
    total: 212,
    waiting: { reason: 'unreachable', until: '2025-10-20T18:30:00-07:00' },
    started: '2025-10-20T09:12:00-07:00',
  },
  files: 'coming',
};

/** The new mailbox is full. */
export const FULL: TransferStatus = {
  emailmigration: {
    status: 'review',
    done: 8_214,
    total: 21_403,
    bytes: 1_934_201_332,
    attention: { side: 'destination', reason: 'full' },
    started: '2025-10-20T09:12:00-07:00',
  },
  destination: 'google',
  route: { from: PAT, to: 'pat.rivera@gmail.com' },
};

/** The mail was copied, but access to contacts was not granted. */
export const WITHOUT_CONTACTS: TransferStatus = {
  emailmigration: {
    status: 'completed',
    done: 21_403,
    total: 21_403,
    bytes: 4_902_118_007,
    lost: 0,
    duplicated: 0,
    changed: 0,
    started: '2025-10-20T09:12:00-07:00',
    finished: '2025-10-20T11:47:00-07:00',
  },
  contactsmigration: {
    status: 'authentication_error',
    done: 0,
    total: 212,
    attention: { side: 'destination', reason: 'consent' },
    started: '2025-10-20T09:12:00-07:00',
  },
  destination: 'aol',
  route: { from: PAT, to: 'pat.rivera@aol.com' },
};

/** The same transfer, waiting for its owner for another reason. */
export function inNeed(attention: Attention, destination: Provider = 'other'): TransferStatus {
  return {
    ...FULL,
    emailmigration: {
      ...FULL.emailmigration,
      status: 'authentication_error',
      attention: { ...attention, until: '2025-11-03T11:30:00-08:00' },
    },
    destination,
  };
}

export const CANCELLED: TransferStatus = {
  emailmigration: {
    status: 'review',
    ended: 'cancelled',
    done: 8_214,
    total: 21_403,
    bytes: 1_934_201_332,
    started: '2025-10-20T09:12:00-07:00',
    finished: '2025-10-20T10:02:00-07:00',
  },
  destination: 'other',
  route: { from: PAT, to: 'pat.rivera@mail.example' },
};

const until = '2025-11-30T23:59:59-08:00';
export const DAILY: TransferStatus = { ...MOVED_ELSEWHERE, daily: { until } };
export const DAILY_ON: TransferStatus = { ...MOVED_ELSEWHERE, daily: { until, next: '2025-10-21T11:47:00-07:00' } };

export const WAITING: TransferStatus = {
  emailmigration: {
    status: 'inprogress',
    done: 8_214,
    total: 21_403,
    bytes: 1_934_201_332,
    waiting: { reason: 'provider_limit', until: '2025-10-20T18:30:00-07:00' },
    started: '2025-10-20T09:12:00-07:00',
  },
};

/** The mail was copied, but the address book asks for a pause. */
export const CONTACTS_WAITING: TransferStatus = {
  emailmigration: MOVED_ELSEWHERE.emailmigration,
  contactsmigration: {
    status: 'inprogress',
    done: 120,
    total: 212,
    waiting: { reason: 'busy', until: '2025-10-20T18:30:00-07:00' },
    started: '2025-10-20T09:12:00-07:00',
  },
  destination: 'google',
};

export const COMPARING: TransferStatus = {
  emailmigration: {
    status: 'inprogress',
    done: 400,
    total: 400,
    compared: 300,
    left: 55,
    folders: [
      { name: 'INBOX', done: 320, total: 320 },
      { name: 'Archive/2009', done: 80, total: 80 },
    ],
    started: '2025-10-20T09:12:00-07:00',
  },
};

export const FORWARDED: TransferStatus = {
  ...MOVED,
  emailforwarding: {
    status: 'completed',
    since: '2025-10-20T11:47:00-07:00',
    finished: '2025-10-20T11:47:00-07:00',
    to: 'pat.rivera@gmail.com',
    copies: true,
  },
};

/** With these values in the fields. */
export function typed(fields: Partial<Typed>): Pick<Context, 'typed'> {
  return { typed: { ...NOTHING_TYPED, ...fields } };
}
