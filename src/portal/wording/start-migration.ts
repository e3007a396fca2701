import type { Mode } from '../../../machines/mode.ts';
import { DRAWINGS } from '../parts/drawings.ts';
import { type Brings, shared, unbroken } from '../wording.ts';
import type { Ways } from './where-the-id-is.ts';

const shownContact = (contact: string) => contact.replace(/^\+1(\d{3})(\d{3})(\d{4})$/, '$1 $2 $3');

/** Whether there is a way to tell a contact. */
export const isTold = (contact: string, { sendsNoTexts, sendsNoLetters }: Ways) =>
  (contact.includes('@') ? sendsNoLetters : sendsNoTexts) !== true;

/** What becomes of the San Bruno address, off the primary path. */
const later = (mode: 'transfer' | 'download', legacyName: string) =>
  mode === 'download'
    ? `Mail that comes to your ${legacyName} address later will not be in your files.`
    : `New mail to your ${legacyName} address does not follow you to the new mailbox. Please tell people your new address.`;

/** Of a contact that nothing can be sent to. */
function unsent(contact: string, { sendsNoLetters }: Ways): string {
  if (contact.includes('@')) return 'We cannot send email right now. You can check your transfer with its ID.';
  const instead = sendsNoLetters === true ? 'You can' : 'To hear from us, use an email address. You can also';
  return `We cannot send text messages right now. ${instead} check your transfer with its ID.`;
}

export const startMigration = {
  heading: (mode: Mode) => (mode === 'move' ? 'Move your email account to Yahoo Mail' : 'Transfer your data'),
  lead: ({ sendsNoLetters }: Ways) =>
    `Please check that everything is correct.${sendsNoLetters === true ? '' : ' Then tell us how to reach you when it is done.'}`,
  from: 'From',
  to: 'To',
  what: 'What',
  contactsLeftOut: {
    text: (provider: string) =>
      `Your contacts will not be copied, because you did not allow it at ${provider}. Your mail is not affected. You can allow it now and come back here, or go on without contacts.`,
    allow: 'Allow contacts',
  },
  files: 'Files for download',
  content: (contacts: boolean) => (contacts ? 'Messages, folders and contacts' : 'Messages and folders'),
  formats: (email: string, contacts: string, { bringsNoContacts }: Brings) =>
    `Messages and folders as ${email.toUpperCase()}${bringsNoContacts ? '' : `, contacts as ${contacts.toUpperCase()}`}`,
  field: (mode: Mode) => (mode === 'move' ? 'Notification email or phone number' : 'Notification email'),
  help: (mode: Mode, legacyName: string, { sendsNoTexts, sendsNoLetters }: Ways) => {
    const sendsTexts = mode === 'move' && sendsNoTexts !== true;
    const address = `an email address that is not your ${legacyName} address`;
    const number = 'a US phone number: XXX XXX XXXX';
    if (sendsNoLetters === true)
      return sendsTexts
        ? `We'll let you know by text message when your transfer is finished. Use ${number}.`
        : `We cannot send messages right now, but we need ${address}. You can check your transfer with its ID.`;
    return `We'll let you know when your transfer is finished. Use ${address}${sendsTexts ? `, or ${number}` : ''}.`;
  },
  errors: {
    email: 'Please, enter a valid email address.',
    phone: 'Please, enter a valid phone number in the following format: XXX XXX XXXX',
    contact: (mode: Mode) =>
      mode === 'move'
        ? 'Please, provide a valid email address or phone number.'
        : 'Please, provide a valid email address.',
    legacy: (legacyName: string) => `Please, do not use a ${legacyName} email address for notification.`,
  },
  /** The check failed, and is made again by itself. */
  unchecked: "We couldn't check this just now. Your mail is safe. We'll try again in a few seconds.",
  /** A phone number as it is shown: `650 253 0000`. */
  contact: shownContact,
  good: (contact: string, ways: Ways) => {
    if (!isTold(contact, ways)) return unsent(contact, ways);
    return contact.includes('@')
      ? `We will write to ${contact.trim()}.`
      : `We will send a text message to ${unbroken(shownContact(contact))}.`;
  },
  facts: (mode: Mode, legacyName: string) =>
    [
      { icon: 'shield', text: shared.nothingDeleted(legacyName) },
      {
        icon: 'clock',
        text:
          mode === 'download'
            ? 'Making the files can take a few minutes or up to a day. You can close this page while it runs.'
            : 'It can take a few minutes or up to a day. You can close this page while it runs.',
      },
      ...(mode === 'move' ? [] : [{ icon: DRAWINGS.at, text: later(mode, legacyName) } as const]),
    ] as const,
  action: { move: 'Move', transfer: 'Transfer', download: 'Download' } satisfies Record<Mode, string>,
  busy: 'Starting…',
} as const;

export const complete = {
  heading: "We're moving your email data!",
  lead: {
    running: "We'll take it from here. You can close this page and turn off your computer.",
    waiting: 'Your transfer is waiting for you.',
    ended: 'Your transfer has ended.',
  },
  idTitle: 'Your transfer ID',
  idHelp: 'Please keep it. You can use it to check your transfer.',
  copy: 'Copy transfer ID',
  copied: 'Copied',
  notCopied: 'Your browser did not let us copy it. Please select the ID and copy it yourself.',
  next: 'What happens now',
  /** @param hears whether there is a way to tell its owner of the end */
  facts: {
    running: (hears: boolean) => [
      { icon: DRAWINGS.running, text: 'Your transfer has started. It can take a few minutes or up to a day.' },
      {
        icon: DRAWINGS.letter,
        text: hears
          ? "We'll let you know when it is finished. The status page tells you what we copied."
          : 'The status page tells you when it is finished, and what we copied.',
      },
    ],
    waiting: () => [{ icon: DRAWINGS.letter, text: 'The status page tells you what to do.' }],
    ended: () => [{ icon: DRAWINGS.letter, text: 'The status page tells you how it went.' }],
  },
  safe: shared.nothingDeleted,
  status: 'Check progress',
} as const;
