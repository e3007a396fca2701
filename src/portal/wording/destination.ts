import { DRAWINGS } from '../parts/drawings.ts';
import { type Brings, shared } from '../wording.ts';

export const destination = {
  heading: 'Move your mailbox to Yahoo Mail',
  signedIn: 'You are signed in as',
  intro: (legacyName: string) =>
    `Yahoo Mail is the new home of ${legacyName} email. Here is what happens when you move there.`,
  cards: (legacyName: string, { bringsNoContacts }: Brings) =>
    [
      {
        icon: DRAWINGS.at,
        title: 'You keep your email address',
        text: `Your ${legacyName} address stays the same. People write to you as before, and you read their mail at Yahoo.`,
      },
      {
        icon: DRAWINGS.move,
        title: bringsNoContacts ? 'Your mail comes with you' : 'Your mail and contacts come with you',
        text: `We copy your messages${bringsNoContacts ? ' and folders' : ', folders and contacts'} to Yahoo. It can take anywhere from minutes to a full day.`,
      },
      {
        icon: DRAWINGS.calendar,
        title: 'Timeline',
        text: "You can move for 90 days from first availability of Yahoo's terms.",
      },
      {
        icon: DRAWINGS.device,
        title: 'Your other services',
        text: `Only email moves. Your other ${legacyName} services do not change. In mail apps on your phone or computer, you will need to sign in again.`,
      },
    ] as const,
  go: 'Go to Yahoo Mail',
  goFacts: (legacyName: string) =>
    [
      { icon: 'info', text: 'First, a short notice. Nothing moves yet.' },
      { icon: 'shield', text: shared.nothingDeleted(legacyName) },
    ] as const,
  notice: {
    title: 'Important notice',
    what: "We'll set up a Yahoo account for your address, then take you to Yahoo to sign in.",
    email: 'Sign in there with this address:',
    password: (legacyName: string) => `Use the password of your ${legacyName} mailbox.`,
    agree:
      'Yahoo will show you its terms and ask if we may put your mail there. Please agree. Then you will come back here.',
    safe: 'Nothing moves yet. When you are back here, you press “Move” to start.',
    continue: 'Continue',
    creating: 'Creating your Yahoo account',
    redirecting: 'Redirecting to Yahoo',
  },
  options: {
    label: 'Check other options to export your data',
    intro: ({ bringsNoContacts }: Brings) =>
      bringsNoContacts
        ? 'Take your mail to another provider, or download it as files.'
        : 'Take your mail and contacts to another provider, or download them as files.',
    gmail: 'Gmail',
    outlook: 'Outlook',
    aol: 'AOL',
    other: 'Other',
    download: 'Download',
  },
  other: {
    heading: 'Another provider',
    intro: ({ bringsNoContacts }: Brings) =>
      `Sign in to the mailbox you want to move your mail to.${bringsNoContacts ? '' : " If you use a password here, we can't copy your contacts. You can download them as files instead."}`,
    email: 'Email',
    password: 'Password',
    refused: 'Incorrect email or password.',
    passwordHelp: 'Some providers ask for an app password here.',
    byOauth: (provider: string) => `You will sign in at ${provider}. We don't need your password here.`,
    safe: 'We keep your password encrypted while we work. We erase it when your transfer ends.',
    safeByOauth: 'Nothing moves yet. You will come back here and start the transfer yourself.',
    customHost: 'Use a custom IMAP host',
    host: 'IMAP host',
    hostHelp: 'Your provider can tell you this name. It looks like imap.example.com.',
    hostGood: 'We found this server.',
    invalidHost: 'Invalid IMAP. Please enter a valid IMAP address.',
    unresolvedHost: 'Could not resolve IMAP host.',
    /** The check failed, and is made again by itself. */
    uncheckedHost: "We'll try again in a few seconds.",
    unsupported: 'This provider is not supported.',
    serverless: (domain: string, customHost: string) =>
      `We couldn't reach a mail server for ${domain}. Please check the part after @. If it is right, tick “${customHost}”.`,
    legacyAddress: (legacyName: string) => `Please, do not use a ${legacyName} email address for the export.`,
    found: (provider: string) => `This is a mailbox at ${provider}.`,
    submit: 'Sign in',
    busy: 'Signing in…',
  },
  download: {
    heading: 'Download as files',
    /** @param isTold whether there is a way to tell its owner of the end */
    intro: (isTold: boolean, { bringsNoContacts }: Brings) =>
      `Keep your mail${bringsNoContacts ? ' on your own computer. Your contacts will not be in the files.' : ' and contacts on your own computer.'} We'll make the files${isTold ? ' and tell you when they are ready' : ''}.`,
    recommended: (isChosen: boolean, { bringsNoContacts }: Brings) =>
      `Not sure? ${isChosen ? 'Keep what is chosen here.' : 'Choose EML and CSV.'} ${bringsNoContacts ? 'Most mail programs can open EML. Please choose a contacts format as well, though there will be no contacts.' : 'Most mail programs and spreadsheets can open these files.'}`,
    emailFormat: 'Email format',
    contactsFormat: 'Contacts format',
    choose: 'Choose a format',
    emailFormats: {
      eml: 'EML (recommended)',
      mbox: 'MBOX – a file per folder',
      pst: 'PST – for Outlook',
    },
    contactsFormats: {
      csv: 'CSV (recommended)',
      vcf: 'VCF – contact cards',
      pst: 'PST – for Outlook',
    },
    submit: 'Download',
  },
} as const;
