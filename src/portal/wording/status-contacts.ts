import type { ContactCounts } from '../../contract/calls/status.ts';
import { LOCALE } from '../wording.ts';
import { formatNumber } from './number.ts';
import { formatDay } from './status.ts';

const plural = new Intl.PluralRules(LOCALE);

function counted(count: number): string {
  return `${formatNumber(count)} ${plural.select(count) === 'one' ? 'contact' : 'contacts'}`;
}

function were(count: number): string {
  return plural.select(count) === 'one' ? 'was' : 'were';
}

/** What became of contacts, a sentence for each way that some went. */
export const contactsOutcome: Readonly<Record<keyof ContactCounts, (count: number) => string>> = {
  copied: (count) => `${counted(count)} copied in full.`,
  remarked: (count) => `${counted(count)} copied, with a note from us below.`,
  present: (count) => `${counted(count)} ${were(count)} already there.`,
  completed: (count) => `${counted(count)} ${were(count)} already there. We added what was missing.`,
  refused: (count) => `${counted(count)} could not be copied.`,
};

export const contactsRemarks = {
  title: (count: number, isLeast: boolean) =>
    `${isLeast ? 'At least ' : ''}${formatNumber(count)} ${plural.select(count) === 'one' ? 'note' : 'notes'} on your contacts`,
  help: (count: number) =>
    `${plural.select(count) === 'one' ? 'This contact is' : 'These contacts are'} in your new address book. Some details are in another place there, or were left out.`,
} as const;

export const forwardingWords = {
  title: 'Forwarding',
  waiting: 'We will set up forwarding as soon as your mail is copied.',
  on: (to: string | undefined, since: string) =>
    `Since ${formatDay(since)}, new mail goes to ${to ?? 'your new mailbox'}.`,
  copies: (stay: boolean, legacyName: string) => `${stay ? 'A' : 'No'} copy stays in your ${legacyName} mailbox.`,
  /** It was turned off, or a later transfer forwards to another address. */
  ended: (to: string | undefined, iso: string) =>
    `Forwarding ended on ${formatDay(iso)}. New mail no longer goes to ${to ?? 'your new mailbox'}.`,
  off: 'Forwarding is not on.',
} as const;
