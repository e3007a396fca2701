import type { Guide } from '../../../machines/mail-guide.ts';
import { unbroken } from '../wording.ts';

type Place = { readonly server: string; readonly port: number; readonly security: 'SSL/TLS' | 'STARTTLS' };

/** What a guide says of one provider. */
type Facts = {
  readonly name: string;
  /** What a phone calls it in its list of accounts. */
  readonly onIphone: string;
  readonly onAndroid: string;
  readonly incoming: Place;
  readonly outgoing: Place;
  /** What has to be done before any mail program. */
  readonly first?: string;
  readonly password: readonly string[];
};

const imap = (server: string): Place => ({ server, port: 993, security: 'SSL/TLS' });
const smtp = (server: string): Place => ({ server, port: 465, security: 'SSL/TLS' });
const appPassword = (where: string): readonly string[] => [
  'Some mail programs need an app password. It is a second password, for that one program.',
  `To get one, ${where} Then type it in the mail program in place of your usual password.`,
];

export const MAIL_FACTS: Readonly<Record<Guide, Facts>> = {
  yahoo: {
    name: 'Yahoo Mail',
    onIphone: 'Yahoo',
    onAndroid: 'Yahoo',
    incoming: imap('imap.mail.yahoo.com'),
    outgoing: smtp('smtp.mail.yahoo.com'),
    password: appPassword(
      'sign in to Yahoo in your browser. Open your account, go to Security, and look for “app password”.',
    ),
  },
  google: {
    name: 'Gmail',
    onIphone: 'Google',
    onAndroid: 'Google',
    incoming: imap('imap.gmail.com'),
    outgoing: smtp('smtp.gmail.com'),
    password: appPassword(
      'go to myaccount.google.com and open Security. First turn on 2-Step Verification. Then search there for “app passwords”.',
    ),
  },
  office365: {
    name: 'Outlook',
    onIphone: 'Outlook.com',
    onAndroid: 'Outlook, Hotmail, and Live',
    incoming: imap('outlook.office365.com'),
    outgoing: { server: 'smtp-mail.outlook.com', port: 587, security: 'STARTTLS' },
    first:
      'For a program that is not from Microsoft, first go to outlook.live.com in your browser. Open Settings, then Mail, then “Forwarding and IMAP”. Turn on the switch that lets apps use IMAP, and save.',
    password: [
      'Outlook wants you to sign in on a page from Microsoft. When your program asks how to sign in, choose “OAuth2” or “Modern Auth”.',
      'Does your program not offer this? Then use the Outlook app, or read your mail in the browser.',
    ],
  },
  aol: {
    name: 'AOL Mail',
    onIphone: 'AOL',
    onAndroid: 'Other',
    incoming: imap('imap.aol.com'),
    outgoing: smtp('smtp.aol.com'),
    password: appPassword(
      'sign in to AOL in your browser. Open your account, go to Security, and look for “app password”.',
    ),
  },
  other: {
    name: 'your new mailbox',
    onIphone: 'Other, then Add Mail Account',
    onAndroid: 'Other',
    incoming: imap(''),
    outgoing: smtp(''),
    password: appPassword('open the help pages of your provider and look for “app password”.'),
  },
};

export const mailGuide = {
  heading: (guide: Guide) => `Set up ${MAIL_FACTS[guide].name} on your phone and computer`,
  lead: 'Take your time. You can do this on any day, and your mail is safe while you wait.',
  phone: {
    title: 'On an iPhone or iPad',
    steps: (guide: Guide) => [
      'Open Settings. Tap Apps, then Mail. On an older iPhone, tap Mail right away.',
      'Tap Mail Accounts, then Add Account. On an older iPhone, tap Accounts first.',
      `Tap ${MAIL_FACTS[guide].onIphone}.`,
      guide === 'other'
        ? 'Type your name, address and password. If you are asked for more, use the settings below.'
        : 'Sign in with the address and password of your new mailbox. Leave Mail turned on, and tap Save.',
    ],
  },
  android: {
    title: 'On an Android phone or tablet',
    steps: (guide: Guide) => [
      'Open the Gmail app. Tap your picture at the top right.',
      'Tap Add another account.',
      `Tap ${MAIL_FACTS[guide].onAndroid}.`,
      MAIL_FACTS[guide].onAndroid === 'Other'
        ? 'Type your address, tap Next, and choose IMAP. Then type your password. If you are asked for more, use the settings below.'
        : 'Sign in with the address and password of your new mailbox.',
    ],
  },
  computer: {
    title: 'In a mail program on your computer',
    steps: [
      'Open your mail program, such as Outlook, Apple Mail or Thunderbird.',
      'Look for Add Account. It is in the File menu, the Mail menu, or the settings.',
      'Type your name, your address and your password. Most programs find the rest for you.',
      'If yours does not, use the settings below.',
    ],
  },
  settings: {
    title: 'The settings, if you are asked for them',
    address: 'Address and user name',
    anAddress: 'Your full email address',
    kind: 'Kind of account',
    imap: 'IMAP, not POP',
    incoming: 'Incoming mail (IMAP)',
    outgoing: 'Outgoing mail (SMTP)',
    how: ({ port, security }: Place) => `Port ${port}, security ${security}`,
    askIncoming: 'Ask your provider for the name. It often starts with “imap.”',
    askOutgoing: 'Ask your provider for the name. It often starts with “smtp.”',
  },
  password: 'If your password is not accepted',
  keep: {
    title: (legacyName: string) => `Your ${legacyName} account in the same app`,
    text: (legacyName: string) =>
      `Leave your ${legacyName} account in the app until you have seen all your mail in the new one. Some programs keep mail only on your computer, and delete it when you remove the account.`,
  },
  help: (phone: string) => `Need help? Call us at ${unbroken(phone)}.`,
  print: 'Print this page',
  back: 'Back to your transfer',
} as const;
