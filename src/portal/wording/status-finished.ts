import type { Guide } from '../../../machines/mail-guide.ts';
import { DRAWINGS } from '../parts/drawings.ts';
import { pacificDate } from '../wording.ts';
import { MAIL_FACTS } from './mail-guide.ts';
import { counted, formatLastDay, status } from './status.ts';

type Kind = 'email' | 'contacts';

const FOLLOWS = {
  'sent on': 'sent on to your new mailbox',
  brought: 'brought to your new mailbox once a day',
} as const;

export const finished = {
  heading: 'Your transfer is done',
  lead: 'Everything is done. You can close this page.',
  /** Some of it is not at the destination. */
  leadInPart: 'We copied what we could. Please see below what did not move.',
  leadUnforwarded: 'We did not set up forwarding. Everything else is done.',
  filesLead: 'Your files are ready. Please download them to your computer.',
  arrivedTitle: (ofExport: boolean, isDeleted: boolean) => {
    if (!ofExport) return 'What arrived';
    return isDeleted ? 'What was in your files' : 'What is in your files';
  },
  arrived: (kind: Kind, count: number, ofExport: boolean) =>
    `${counted(kind, count)} ${ofExport ? 'saved' : 'arrived'}.`,
  proven: (ofExport: boolean, besides: boolean) => {
    const none = besides ? 'Nothing else' : 'Nothing';
    return ofExport
      ? `We checked your files. ${none} is missing, and nothing is changed.`
      : `We checked both sides at the end. ${none} is missing, and nothing is there twice.`;
  },
  leftTitle: (ofExport: boolean, isDeleted: boolean) => {
    if (!ofExport) return 'What did not move';
    return isDeleted ? 'What was not in your files' : 'What is not in your files';
  },
  refused: (kind: Kind, count: number, ofExport: boolean, isLeast: boolean) =>
    `${status.skipped(kind, count, ofExport, isLeast)}. See the list below.`,
  foldersLeft: (count: number, isLeast: boolean) => `${status.foldersLeft(count, isLeast)}. See the list below.`,
  noContacts: {
    permitted: 'Your contacts. To bring them too, start a new transfer and allow contacts. No message is copied twice.',
    unread: 'Your contacts.',
    typed: 'Your contacts. You can download them as files, and add them to your new mailbox yourself.',
  },
  left: 'Mail rules, signatures and auto replies.',
  /** What a download lacks. */
  later: (legacyName: string, isClosed: boolean) =>
    `Mail that came to your ${legacyName} mailbox later.${isClosed ? '' : ' To have it too, start a new download.'}`,
  /** A mailbox that forwards has a rule of ours, and may keep no copies. */
  nothingDeleted: (legacyName: string, forwards: boolean) =>
    forwards
      ? `Nothing was deleted from your ${legacyName} mailbox.`
      : `Your ${legacyName} mailbox is as it was. Nothing was deleted there.`,
  nextTitle: 'What to do next',
  atYahoo: [
    { icon: DRAWINGS.letter, text: 'Open Yahoo Mail and look at your mail. You keep your email address.' },
    { icon: DRAWINGS.device, text: 'Set up Yahoo Mail in the mail apps on your phone and computer.' },
  ],
  look: (guide: Guide) =>
    [
      { icon: DRAWINGS.letter, text: `Open ${MAIL_FACTS[guide].name} and look at your mail.` },
      { icon: DRAWINGS.device, text: 'Set up your new mailbox in the mail apps on your phone and computer.' },
    ] as const,
  stays: (legacyName: string) =>
    [
      {
        icon: 'info',
        text: `New mail to your ${legacyName} address does not follow you to a new mailbox.`,
      },
    ] as const,
  elsewhere: (legacyName: string, accessEnd: string, isClosed: boolean) =>
    [
      {
        icon: DRAWINGS.at,
        text: 'Tell people your new address: family and friends, your bank, your doctor, and the stores and websites where you sign in.',
      },
      {
        icon: DRAWINGS.calendar,
        text: isClosed
          ? `${legacyName} email was due to close on ${pacificDate(accessEnd)}.`
          : `You can still read new mail in your ${legacyName} mailbox until ${formatLastDay(accessEnd)}.`,
      },
    ] as const,
  /** `how`: what becomes of new mail until then. */
  follows: (how: 'sent on' | 'brought', legacyName: string, until: string) =>
    [
      {
        icon: 'info',
        text: `New mail to your ${legacyName} address is ${FOLLOWS[how]}, but only until ${formatLastDay(until)}.`,
      },
      {
        icon: DRAWINGS.at,
        text: 'Tell people your new address before then: family and friends, your bank, your doctor, and the stores and websites where you sign in.',
      },
    ] as const,
  ifYahoo: (legacyName: string) => `Did you move to Yahoo Mail? Then you keep your ${legacyName} address.`,
  ifElsewhere: 'If your new mailbox is not at Yahoo:',
  open: (guide: Guide) => `Open ${MAIL_FACTS[guide].name}`,
  setUp: 'Set up your phone and computer',
  setUpWhich: 'Set up your phone and computer. Where is your new mailbox?',
  guides: (guide: Guide) => (guide === 'other' ? 'Other' : MAIL_FACTS[guide].name),
  print: 'Print this page',
  save: 'To save this page as a file, press Print and choose “Save as PDF”.',
} as const;

export const MAIL_SITES = {
  google: 'https://mail.google.com/',
  office365: 'https://outlook.live.com/',
  aol: 'https://mail.aol.com/',
} as const;
