import type { Attention, TransferStatus } from '../../src/contract/calls/status.ts';
import type { Provider } from '../../src/contract/provider.ts';

const STARTED = '2025-11-01T09:00:00.000Z';
const FINISHED = '2025-11-01T10:00:00.000Z';

export const RUNNING: TransferStatus = {
  emailmigration: {
    status: 'inprogress',
    done: 300,
    total: 1000,
    bytes: 4_000_000,
    left: 1_100,
    folders: [
      { name: 'INBOX', done: 200, total: 200 },
      { name: 'Garden', done: 100, total: 800 },
    ],
    started: STARTED,
  },
};
export const COMPARING: TransferStatus = {
  emailmigration: { status: 'inprogress', done: 400, total: 400, compared: 300, started: STARTED },
};
export const WAITING: TransferStatus = {
  emailmigration: { status: 'error', done: 300, total: 1000, waiting: { reason: 'busy' }, started: STARTED },
};
const DONE = { status: 'completed', done: 12, total: 12, lost: 0, duplicated: 0, changed: 0, finished: FINISHED };
export const movedTo = (destination: Provider): TransferStatus => ({ emailmigration: DONE, destination });
export const FORWARDED: TransferStatus = {
  ...movedTo('other'),
  emailforwarding: { status: 'completed', since: FINISHED, finished: FINISHED, to: 'maria@mail.example' },
};
export const DAILY: TransferStatus = { ...movedTo('other'), daily: { until: '2099-11-30T23:59:59Z' } };
export const DAILY_ON: TransferStatus = {
  ...movedTo('other'),
  daily: { until: '2099-11-30T23:59:59Z', next: '2099-11-02T10:00:00Z' },
};
export const STOPPED: TransferStatus = {
  emailmigration: { status: 'review', ended: 'cancelled', done: 300, total: 1000, finished: FINISHED },
  destination: 'other',
};
export const FAILED: TransferStatus = {
  emailmigration: { status: 'review', done: 300, total: 1000, finished: FINISHED },
  destination: 'other',
};
export const TAKEN_BACK: TransferStatus = {
  ...movedTo('other'),
  emailmigration: { ...DONE, taken_back: 12 },
  brings_back: true,
};
export const needing = (attention: Attention, destination: Provider = 'other'): TransferStatus => ({
  emailmigration: { status: 'authentication_error', done: 300, total: 1000, attention, started: STARTED },
  destination,
});
export const NEEDS_PASSWORD = needing({ side: 'source', reason: 'password' });
export const NEEDS_CONSENT = needing({ side: 'destination', reason: 'consent' }, 'google');
export const FULL = needing({ side: 'destination', reason: 'full' });
/** The mail is there, and the contacts were not permitted. */
export const NEEDS_PERMISSION: TransferStatus = {
  ...movedTo('aol'),
  contactsmigration: {
    status: 'authentication_error',
    done: 0,
    total: 4,
    attention: { side: 'destination', reason: 'consent' },
    started: STARTED,
  },
};
