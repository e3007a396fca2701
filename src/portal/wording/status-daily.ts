import type { Daily } from '../../contract/calls/status.ts';
import { pacificDate } from '../wording.ts';
import { formatMoment } from './moment.ts';
import { formatLastDay } from './status.ts';

const ENDED: Record<NonNullable<Daily['ended']>, string> = {
  sign_in:
    'We stopped bringing new mail, because one of your mailboxes no longer lets us sign in. You can turn it on again.',
  failed:
    'We stopped bringing new mail, because it did not work any more. Please turn it on again, or contact support.',
};

/** When new mail is looked for next; nothing after the last time. */
export function nextLook({ next, until }: Daily): string | undefined {
  return next !== undefined && Date.parse(next) < Date.parse(until) ? next : undefined;
}

/** What still arrives is brought once a day. */
export const daily = {
  title: 'New mail, once a day',
  off: (legacyName: string, until: string) =>
    `New mail may still come to your ${legacyName} mailbox. If you like, we bring it to your new mailbox once a day, until ${formatLastDay(until)}.`,
  ended: (why: NonNullable<Daily['ended']>) => ENDED[why],
  on: (next: string | undefined, until: string, legacyName: string, accessEnd: string) => [
    next === undefined
      ? 'This is on. We will not look for new mail again.'
      : `This is on. We look for new mail again on ${formatMoment(next)}.`,
    `It ends by itself on ${formatLastDay(until)}.`,
    // It lasts no longer than a sign-in may be kept, and this page may be erased before the mailbox closes. The day on
    // which that is may have been changed since.
    ...(Date.parse(accessEnd) <= Date.parse(until) || pacificDate(until) === pacificDate(accessEnd)
      ? []
      : [
          `Your ${legacyName} mailbox closes on ${formatLastDay(accessEnd)}. For mail that comes in between, start a new transfer before that day.`,
        ]),
  ],
  turnOn: {
    button: 'Bring new mail once a day',
    title: 'Bring new mail once a day',
    text: (legacyName: string, until: string) => [
      `We copy what came to your ${legacyName} mailbox now, and then once a day until ${formatLastDay(until)}. Nothing is copied twice.`,
      'To do this, we keep the sign-in for both mailboxes, encrypted, as long as it is on. You can turn it off here at any time.',
    ],
    confirm: 'Turn it on',
    busy: 'One moment…',
  },
  turnOff: {
    button: 'Stop bringing new mail',
    title: 'Stop bringing new mail?',
    text: 'We no longer look for new mail, and we delete the sign-in for both mailboxes. What was copied stays.',
    keep: 'Keep it on',
    confirm: 'Turn it off',
    busy: 'Turning it off…',
  },
} as const;
