import type { Act } from '../../machines/owner-acts.ts';
import type { Attention, TransferStatus } from '../../src/contract/calls/status.ts';
import type { Provider } from '../../src/contract/provider.ts';
import { ID, PASSWORD } from './moves.ts';
import { arriveAt, type Wizard } from './wizard.ts';

// States in which owners may find their transfers, and what they do about them.

export const FINISHED = '2025-11-02T00:00:00Z';

export const RUNNING: TransferStatus = { emailmigration: { status: 'inprogress', done: 1, total: 2 } };
export const mail = { status: 'completed', done: 2, total: 2, finished: FINISHED };
export const movedTo = (destination: Provider): TransferStatus => ({ emailmigration: mail, destination });
export const MOVED = movedTo('other');
export const STOPPED: TransferStatus = {
  emailmigration: { status: 'review', ended: 'cancelled', done: 1, total: 2, finished: FINISHED },
  destination: 'other',
};
export const FORWARDED: TransferStatus = { ...MOVED, emailforwarding: { status: 'completed', since: FINISHED } };
export const needing = (attention: Attention, destination: Provider = 'other'): TransferStatus => ({
  emailmigration: { status: 'authentication_error', done: 1, total: 2, attention },
  destination,
});
export const NEEDS_PASSWORD = needing({ side: 'source', reason: 'password' });
export const NEEDS_CONSENT = needing({ side: 'destination', reason: 'consent' }, 'google');
export const FULL = needing({ side: 'destination', reason: 'full' }, 'google');

export const withDaily = (status: TransferStatus, next?: string): TransferStatus => ({
  ...status,
  daily: { until: '2025-12-01T00:00:00Z', ...(next === undefined ? {} : { next }) },
});
/** New mail is transferred once a day. */
export const DAILY_ON = withDaily(MOVED, '2025-11-03T00:00:00Z');

export const open = (act: Act) => ({ type: 'act.open', act }) as const;
export const submit = { type: 'act.submit' } as const;
export const close = { type: 'modal.close' } as const;
export const password = { type: 'password.type', password: PASSWORD } as const;
export const destinationPassword = { type: 'destination-password.type', password: 'another' } as const;

export type Script = Parameters<typeof arriveAt>[1] & object;

export async function arriveAtStatus(status: TransferStatus, script: Script = {}): Promise<Wizard> {
  const wizard = arriveAt(`/status?migration_id=${ID}`, { 'ask for the status': () => status, ...script });
  await wizard.wait(0);
  return wizard;
}
