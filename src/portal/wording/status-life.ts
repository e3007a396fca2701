import type { Progress, WaitingReason } from '../../contract/calls/status.ts';
import { comparisonOf } from '../../contract/transfer-status.ts';
import { LOCALE } from '../wording.ts';
import { formatMoment } from './moment.ts';
import { formatNumber } from './number.ts';
import { allCopied, counted, stays } from './status.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const long = (unit: 'minute' | 'hour' | 'day') => {
  const format = new Intl.NumberFormat(LOCALE, { style: 'unit', unit, unitDisplay: 'long' });
  return (value: number) => format.format(value);
};
const minutes = long('minute');
const hours = long('hour');
const days = long('day');

/** `about 20 minutes left`, from seconds: never closer than can be kept, and rather too long than too short. */
export function timeLeftWords(left: number): string {
  if (left < MINUTE) return 'Less than a minute left.';
  if (left <= 10 * MINUTE) return `About ${minutes(Math.ceil(left / MINUTE))} left.`;
  if (left <= 55 * MINUTE) return `About ${minutes(5 * Math.ceil(left / (5 * MINUTE)))} left.`;
  if (left <= 2 * DAY) return `About ${hours(Math.ceil(left / HOUR))} left.`;
  return `About ${days(Math.ceil(left / DAY))} left.`;
}

const WAITING: Record<WaitingReason, string> = {
  provider_limit: 'Your mail provider takes only so much mail at a time, so we are taking a break.',
  unreachable: 'We cannot reach one of your mailboxes right now. We keep trying.',
  busy: 'The mail server does not let us go on right now.',
  queue: 'Your transfer is waiting for its turn.',
  disk: 'We have no room on our side right now.',
};

const CONTACTS_WAITING: Partial<typeof WAITING> = {
  unreachable: 'We cannot reach one of your address books right now. We keep trying.',
  busy: 'The address book does not let us go on right now.',
};

type Waiting = NonNullable<Progress['waiting']>;

export const waiting = {
  label: 'Waiting',
  why: ({ reason }: Waiting, kind: 'email' | 'contacts') =>
    (kind === 'contacts' ? CONTACTS_WAITING[reason] : undefined) ?? WAITING[reason],
  nowContacts: 'Nothing at the moment. Your contacts have to wait.',
  when: ({ until }: Waiting) =>
    until === undefined
      ? "We'll carry on as soon as we can. You don't need to do anything."
      : `We'll carry on around ${formatMoment(until)}. You don't need to do anything.`,
} as const;

export const cancelled = {
  label: 'Stopped',
  ofExport: 'You stopped this download. Your mail is in your mailbox as before.',
  text: (isTakenBack: boolean, kind: 'email' | 'contacts', legacyName: string) => {
    if (isTakenBack) return `You stopped this transfer. Nothing was deleted from your ${legacyName} mailbox.`;
    const what = `You stopped this transfer. ${stays(kind)}`;
    return kind === 'email' ? `${what} Messages that were on their way then may be there as well.` : what;
  },
  todo: (mayTakeBack: boolean) => [
    ...(mayTakeBack ? ['You can take back what was copied.'] : []),
    'You can start a new transfer to another mailbox.',
  ],
  noFiles: 'There are no files.',
  now: 'Nothing. You stopped it.',
} as const;

/** Whether all is copied, and what arrived is being read back. */
export function isComparing(progress: Progress): boolean {
  const { compared, done, total, finished, bytes, waiting: isWaiting, attention } = progress;
  // What was refused counts as done, and is tried again.
  if (isWaiting !== undefined || attention !== undefined || bytes === 0) return false;
  // What has arrived is read back while the rest is still copied.
  const isCopied = done !== undefined && total !== undefined && done >= total;
  return compared !== undefined && isCopied && finished === undefined && comparisonOf(progress) === null;
}

export const comparing = {
  count: (compared: number, total: number) =>
    `Checking what arrived: ${formatNumber(compared)} of ${formatNumber(total)}`,
  bar: 'Messages checked',
  now: (leavesSomeOut: boolean) => `${allCopied(leavesSomeOut)} Now we read it back and check that it all arrived.`,
} as const;

export const folders = {
  title: 'Folder by folder',
  unnamed: (place: number) => `Folder ${formatNumber(place)}`,
  count: (done: number, total: number) => `${formatNumber(done)} of ${formatNumber(total)}`,
} as const;

/** In place of a text by which what was copied stays. */
export const takenBackText = (legacyName: string) =>
  `Your transfer stopped. Nothing was deleted from your ${legacyName} mailbox.`;
/** In place of what is said of a transfer that is complete. */
export const undone = {
  label: (isUnderWay: boolean) => (isUnderWay ? 'Taking back' : 'Taken back'),
  text: (stays: boolean, legacyName: string) =>
    stays
      ? 'A part of what was copied was taken back. We left the rest as it is.'
      : `What was copied was taken back. Nothing was deleted from your ${legacyName} mailbox.`,
} as const;
export const takingBack = 'We are taking back what was copied. You can close this page.';
export const takenBack = (count: number) =>
  count === 0 ? 'Nothing was taken back.' : `${counted('email', count)} taken back from your new mailbox.`;
