import { pacificDate } from '../wording.ts';
import { counted } from './status.ts';

export const finished = {
  heading: 'Your transfer is done',
  arrivedTitle: (ofExport: boolean) => (ofExport ? 'What is in your files' : 'What arrived'),
  arrived: (kind: 'email' | 'contacts', count: number, ofExport: boolean) => {
    if (count === 0) return kind === 'email' ? 'There were no messages to copy.' : 'There were no contacts to copy.';
    return `${counted(kind, count)} ${ofExport ? 'saved' : 'arrived'}.`;
  },
  arrivedExcept: {
    email: 'Your messages, except the ones listed below.',
    contacts: 'Your contacts, except the ones listed below.',
  },
  proven: 'We checked both sides at the end. Nothing is missing, and nothing is there twice.',
  left: 'Mail rules, signatures and auto replies did not move.',
  nothingDeleted: (legacyName: string) => `Nothing was deleted from your ${legacyName} mailbox.`,
  nextTitle: 'What to do next',
  atYahoo: [
    { icon: 'letter', text: 'Open Yahoo Mail and look at your mail. You keep your email address.' },
    { icon: 'device', text: 'On your phone and computer, sign in to Yahoo in your mail app.' },
  ],
  elsewhere: (legacyName: string, accessEnd: string, isClosed: boolean) =>
    [
      {
        icon: 'letter',
        text: `New mail to your ${legacyName} address does not follow you to a new mailbox.`,
      },
      {
        icon: 'at',
        text: 'Tell people your new address: family and friends, your bank, your doctor, and the stores and websites where you sign in.',
      },
      {
        icon: 'calendar',
        text: isClosed
          ? `${legacyName} email was due to close on ${pacificDate(accessEnd)}.`
          : `You can still read new mail there until ${pacificDate(accessEnd)}.`,
      },
    ] as const,
  ifYahoo: (legacyName: string) => `Did you move to Yahoo Mail? Then you keep your ${legacyName} address.`,
  openYahoo: 'Open Yahoo Mail',
  print: 'Print this page',
} as const;
