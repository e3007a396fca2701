import type { Attention } from '../../contract/calls/status.ts';
import { pacificDate, unbroken } from '../wording.ts';
import { formatMoment } from './moment.ts';

export type Ending = 'completed' | 'unfinished' | 'taken back';

const WHAT_IS_COPIED: Readonly<Record<Ending, (legacyName: string) => string>> = {
  completed: (legacyName) =>
    `We copy what came to your ${legacyName} mailbox since the last time. Nothing is copied twice.`,
  unfinished: (legacyName) =>
    `We go on where it stopped: we copy what is not there yet, and what came to your ${legacyName} mailbox since. Nothing is copied twice.`,
  'taken back': (legacyName) =>
    `We copy again what was taken back, and what else is in your ${legacyName} mailbox and was not copied yet. What is still there is not copied twice.`,
};

/** What its owner can do with a transfer: the buttons of the status page, and what each asks. */
export const acts = {
  title: 'What you can do',
  stop: {
    button: 'Stop the transfer',
    title: 'Stop the transfer?',
    text: (legacyName: string, ofExport: boolean) => [
      ofExport
        ? 'We stop within a few seconds, and there will be no files.'
        : 'We stop within a few seconds. What we copied so far stays in your new mailbox.',
      `Nothing is deleted from your ${legacyName} mailbox. You can start again as long as it is open.`,
    ],
    /** In place of the question. */
    ended: { title: 'This transfer has ended', text: 'There is nothing left to stop. You can close this window.' },
    keep: 'Let it run',
    confirm: 'Stop it now',
    busy: 'Stopping…',
  },
  mend: {
    button: 'Put it right',
    title: 'Put it right',
    tryAgain: 'Try again now',
    carryOn: 'Carry on',
    busy: 'Checking…',
    done: 'This has been put right already. You can close this window.',
    ended: { title: 'This transfer has ended', text: 'There is nothing left to put right. You can close this window.' },
    allowContacts: {
      button: 'Allow contacts',
      title: 'Allow contacts',
      text: (provider: string) =>
        `Please sign in to ${provider} again and tick every box, so that we may add your contacts. Then you will come back here.`,
    },
  },
  takeBack: {
    button: 'Take back what was copied',
    title: 'Take back what was copied?',
    text: (legacyName: string, isDaily: boolean) => [
      'We remove the messages that this transfer put in your new mailbox. Those that you have read, moved or changed since then stay.',
      'We also remove the folders that we made, once they are empty. Everything else stays as it is, and so do the contacts.',
      ...(isDaily ? ['We also stop bringing new mail once a day.'] : []),
      `You cannot undo this. Your ${legacyName} mailbox stays as it is.`,
    ],
    signIn: 'To do this, we need to sign in to your new mailbox once more.',
    signedIn: 'You have signed in. Next, we check that it is the same mailbox.',
    keep: 'Keep it',
    confirm: 'Take it back',
    busy: 'One moment…',
  },
  again: {
    button: 'Copy what is new',
    title: 'Copy what is new',
    /** What leads to the button. */
    lead: {
      unfinished: 'To go on where it stopped, press “Copy what is new”.',
      'taken back': 'Messages were taken back from your new mailbox. To copy them again, press “Copy what is new”.',
    },
    text: (legacyName: string, ending: Ending) => [
      WHAT_IS_COPIED[ending](legacyName),
      'What you read, moved or deleted in your new mailbox stays that way.',
    ],
    first: 'First, sign in to your new mailbox again. You will come back here.',
    signedIn: 'You have signed in. When you start, we check that it is the same mailbox.',
    confirm: 'Start copying',
    busy: 'Starting…',
  },
  /** Where an earlier transfer has copied too. */
  earlier: {
    before: 'To take back what was copied earlier, ',
    link: 'open the transfer before this one',
    after: '.',
  },
  receipt: {
    button: 'Download the receipt',
    title: 'Download the receipt',
    text: 'The receipt lists each message and contact, and what happened to it. Keep it with your papers.',
    links: [
      { format: 'html', text: 'A page to read or print' },
      { format: 'csv', text: 'A file for a spreadsheet (CSV)' },
      { format: 'json', text: 'A file for computer experts (JSON)' },
    ],
  },
  forwarding: {
    button: 'Stop forwarding',
    title: 'Stop forwarding?',
    text: (legacyName: string) =>
      `New mail will stay in your ${legacyName} mailbox. To turn forwarding off, type the password of that mailbox.`,
    confirm: 'Turn it off',
    busy: 'Turning it off…',
  },
  sourcePassword: (legacyName: string) => `${legacyName} password`,
  destinationPassword: 'New mailbox password',
  signInAt: (provider: string) => `Sign in to ${provider}`,
  signInSomewhere: 'Where is your new mailbox?',
  startOver: 'Start a new transfer',
  help: (phone: string) => `Need help? Call us at ${unbroken(phone)}.`,
} as const;

export type Need = { readonly title: string; readonly happened: string; readonly todo: string };

/** What the contacts alone need: what happened, and the one thing to do. `null` when it is what the mail would need. */
export function contactsNeedOf({ side, reason }: Attention, provider: string): Need | null {
  if (side === 'source') return null;
  switch (reason) {
    case 'consent':
      return {
        title: 'Your contacts need your permission',
        happened: `We could not add your contacts, because ${provider} did not let us. Your mail is not affected.`,
        todo: 'Press “Allow contacts” and sign in again. Please say yes to contacts there. Then we add them.',
      };
    case 'full':
      return {
        title: 'Your new address book is full',
        happened: 'There is no more room for contacts, so we stopped. Your mail is not affected.',
        todo: 'Make room in your new address book. Then come back and try again.',
      };
    case 'password':
    case 'refused':
      return null;
  }
}

/** What a transfer needs of its owner: what happened, and the one thing to do. */
export function needOf({ side, reason }: Attention, legacyName: string): Need {
  const mailbox = side === 'source' ? `${legacyName} mailbox` : 'new mailbox';
  switch (reason) {
    case 'password':
      return {
        title: `We can't sign in to your ${mailbox}`,
        happened: `Your ${mailbox} no longer takes the password that you gave us, so we stopped.`,
        todo: "Type the password of that mailbox, and we'll carry on where we stopped. If you changed it, type the new one.",
      };
    case 'consent':
      return {
        title: 'We need you to sign in again',
        happened: `Your ${mailbox} does not let us sign in, so we stopped. This can happen after a change of password.`,
        todo: "Sign in to the same mailbox again, and we'll carry on where we stopped.",
      };
    case 'full':
      return {
        title: `Your ${mailbox} is full`,
        happened: `There is no more room in your ${mailbox}, so we stopped.`,
        todo: 'Make room there. It often helps to empty the trash. Then come back and try again.',
      };
    case 'refused':
      return {
        title: `Your ${mailbox} said no`,
        happened: `The mail server of your ${mailbox} said no to what we asked, so we stopped.`,
        todo: 'Try again now. If that does not help, check that it lets mail programs in (IMAP), or contact support.',
      };
  }
}

export const attention = {
  label: 'Waiting for you',
  safe: 'Your mail is safe. What was copied stays, and nothing was deleted.',
  safeFiles: 'Your mail is safe, and nothing was deleted.',
  safeContacts: 'Nothing was deleted, and nothing is copied twice.',
  newMailbox: 'your new mailbox',
  now: 'Nothing at the moment. We are waiting for you.',
  when: (until: string | undefined, kind: 'email' | 'contacts') => {
    const ends = kind === 'contacts' ? 'we stop bringing your contacts' : 'your transfer ends';
    return `We'll carry on as soon as you have done this.${until === undefined ? '' : ` If it is not done by ${formatMoment(until)}, ${ends}.`}`;
  },
  /** For whom there is nothing left to sign in to. An export that is stopped leaves no files. */
  closed: (legacyName: string, accessEnd: string, phone: string, ofExport: boolean) =>
    `${legacyName} email was due to close on ${pacificDate(accessEnd)}. If your mailbox is closed, call us at ${unbroken(phone)}${ofExport ? '' : ', or stop the transfer: what was copied stays'}.`,
  signInFirst: 'To do this, press “Show more” below and sign in.',
} as const;
