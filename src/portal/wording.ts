import type { TimeLeft } from '../../machines/countdown.ts';
import type { PortalSettings } from '../contract/settings.ts';

/**
 * What every page says, and Home. The other pages' words are in `wording/<page>.ts`, so that they come with their page.
 * Texts that `portal.md` and `decisions.md` give are theirs, word for word.
 */
export const LOCALE = 'en-US';

export const toolName = (legacyName: string) => `${legacyName} Email Data Transfer Tool`;

/** The title of the browser's tab. */
export const pageTitle = (heading: string, legacyName: string, state?: string) =>
  [...(state === undefined ? [] : [state]), heading, toolName(legacyName)].join(' – ');

/** The same while a form on the page has an error. */
export const titleWithError = (title: string) => `Error: ${title}`;

/** A phone number or a size that stays on one line. */
export const unbroken = (text: string) => text.replaceAll(/\s/g, '\u00a0');

/** Month and day stay on one line, and so does a time. A whole date would be too wide for large text on a small phone. */
export function dateFormat(options: Intl.DateTimeFormatOptions): (moment: Date | number) => string {
  const format = new Intl.DateTimeFormat(LOCALE, options);
  return (moment) =>
    format
      .formatToParts(moment)
      .map(({ value }) => (/[,\w]/.test(value) ? value : unbroken(value)))
      .join('');
}

/** Whether contacts come with the mail. */
export type Brings = Pick<PortalSettings, 'bringsNoContacts'>;

export const shared = {
  loading: 'Loading',
  oneMoment: 'One moment, please…',
  slow: 'This is taking longer than usual…',
  close: 'Close',
  back: 'Back',
  password: { show: 'Show', hide: 'Hide', what: 'password' },
  checking: 'Checking…',
  home: 'Home',
  signOut: 'Sign out',
  faq: 'FAQ',
  skip: 'Skip to the page',
  privacy: 'Privacy policy',
  terms: 'Terms of service',
  support: 'Contact support',
  legalFooter: 'Legal information',
  owner: (legacyName: string, phone: string) => `${legacyName} customer support: ${unbroken(phone)}`,
  nothingDeleted: (legacyName: string) => `We copy your mail. Nothing is deleted from your ${legacyName} mailbox.`,
  offline: {
    banner: 'You are offline. What you typed is kept, and your mail is safe.',
    heading: 'You are offline',
    text: 'We have not heard back. Please check your internet connection. Then press “Try again”.',
    headingBack: 'You are back online',
    textBack: 'We have not heard back. Press “Try again” to go on.',
  },
  unavailable: {
    heading: "We'll be back soon",
    text: 'The migration portal is unavailable at this time, we apologize for the inconvenience.',
    safe: 'Your mail is safe. A transfer that has already started keeps running.',
    todo: (phone: string) =>
      `Please wait a minute and try again. If this keeps happening, call us at ${unbroken(phone)}.`,
    retry: 'Try again',
  },
} as const;

/** The four steps; off the primary path the second is not Yahoo Mail. */
export const steps = {
  label: 'Progress',
  done: 'Done',
  names: (primary: boolean) => ['Start', primary ? 'Yahoo Mail' : 'Destination', 'Transfer', 'Running'] as const,
  allDone: (names: readonly string[]) => `All ${names.length} steps are done`,
  summary: (current: number, names: readonly string[]) =>
    `Step ${current} of ${names.length}: ${names[current - 1] ?? ''}`,
} as const;

/** `41 days`, `1 hour`, `0 days`. */
export function countdown({ unit, count }: TimeLeft): string {
  return new Intl.NumberFormat(LOCALE, { style: 'unit', unit, unitDisplay: 'long' }).format(count);
}

/** The date of a deadline in Pacific time, as the specification means it. Midnight counts as the end of the day before. */
export function pacificDate(iso: string, style: Intl.DateTimeFormatOptions = {}): string {
  const timeZone = 'America/Los_Angeles';
  const format = dateFormat({ dateStyle: 'long', ...style, timeZone });
  const clock = new Intl.DateTimeFormat(LOCALE, { timeStyle: 'short', hourCycle: 'h23', timeZone });
  const end = Date.parse(iso);
  return format(clock.format(end) === '00:00' ? end - 1 : end);
}

export const home = {
  lead: (legacyName: string, isOver: boolean, { bringsNoContacts }: Brings) =>
    `${legacyName} email ${isOver ? 'was due to close' : 'is closing'}. Take your mail${bringsNoContacts ? '' : ' and contacts'} with you: to Yahoo Mail, to another provider, or as files on your computer.`,
  countdownTitle: (legacyName: string, isOver: boolean) =>
    isOver ? 'left: the closing date has passed' : `left until ${legacyName} email closes`,
  countdownDate: (iso: string) => `It closes on ${pacificDate(iso, { timeStyle: 'short' })} (Pacific time).`,
  countdownOver: (iso: string) =>
    `It was due to close on ${pacificDate(iso)}. If you can still sign in, you can still move your mail.`,
  start: 'Start',
  lookupBefore: 'Already started? You can ',
  // No full stop follows: a button's own lines would leave it on a line of its own.
  lookup: 'check your transfer status',
  before: 'Good to know before you start',
  facts: (legacyName: string, { bringsNoContacts }: Brings) =>
    [
      { icon: 'shield', text: shared.nothingDeleted(legacyName) },
      { icon: 'key', text: `You need your ${legacyName} email address and its password.` },
      { icon: 'clock', text: 'It can take a few minutes or up to a day. You can close this page while it runs.' },
      {
        icon: 'info',
        text: bringsNoContacts
          ? 'We copy messages and folders. Contacts, mail rules, signatures and auto replies do not move.'
          : 'We copy messages, folders and contacts. Mail rules, signatures and auto replies do not move.',
      },
    ] as const,
} as const;

/** What a page says of itself on paper. */
export const printed = {
  from: (email: string) => `From: ${email}`,
  to: (email: string) => `To: ${email}`,
  on: (day: string) => `Date: ${day}`,
} as const;

export function today(): string {
  return dateFormat({ dateStyle: 'long' })(new Date());
}
