import { EXPORT_PART_OCTETS } from '../../contract/export-part.ts';
import {
  type ShownStatus,
  SKIPPED_SHOWN,
  type Standing,
  type StatusValue,
  TRANSFER_ID_LENGTH,
} from '../../contract/transfer-status.ts';
import { dateFormat, home, LOCALE, pacificDate, unbroken } from '../wording.ts';
import { fromUs, type Ways } from './where-the-id-is.ts';
import { formatMoment } from './moment.ts';
import { formatNumber } from './number.ts';

type Kind = 'email' | 'contacts';
type Entry = { readonly label: string; readonly text: string };

const PLACES: Record<Kind, string> = { email: 'mailbox', contacts: 'address book' };
/** Of a transfer that ended before its time. */
export const stays = (kind: Kind) => `What was copied stays in your new ${PLACES[kind]}, and nothing was deleted.`;

/** What was refused is told on the same page. */
export const allCopied = (leavesSomeOut: boolean) =>
  leavesSomeOut ? 'We copied what we could.' : 'Everything is copied.';

/** Of one of the two: the other one may still run, or wait for its owner. */
const COMPLETED: Record<Kind, Entry> = {
  email: { label: 'Completed', text: 'The transfer of your messages is finished.' },
  contacts: { label: 'Completed', text: 'The transfer of your contacts is finished.' },
};

const TEXTS: Record<Exclude<StatusValue, 'completed'>, (kind: Kind) => Entry> = {
  started: () => ({ label: 'Started', text: 'Your transfer is about to begin.' }),
  inprogress: () => ({ label: 'In progress', text: 'Your transfer is running.' }),
  review: (kind) => ({
    label: 'Needs review',
    text: `Your transfer stopped. ${stays(kind)} Please contact support.`,
  }),
  authentication_error: (kind) => ({
    label: 'Sign-in failed',
    text: `One of your mailboxes stopped accepting our sign-in. ${stays(kind)}`,
  }),
  error: (kind) => ({ label: 'Error', text: `Your transfer was interrupted. ${stays(kind)}` }),
};

/** The status text table; an unknown status reads as its error entry. */
export function statusText(status: string, kind: Kind): Entry {
  const key = status.toLowerCase();
  if (key === 'completed' || key === 'success') return COMPLETED[kind];
  return TEXTS[Object.hasOwn(TEXTS, key) ? (key as keyof typeof TEXTS) : 'error'](kind);
}

/** How a standing looks: what is interrupted does not look as if it ran. */
export function looksOf(standing: Standing): ShownStatus {
  return standing === 'interrupted' ? 'failed' : standing;
}

const BADGES = {
  completed: { label: 'Completed', text: 'Your export is now complete' },
  error: { label: 'Error', text: 'Your export was interrupted' },
  started: { label: 'In progress', text: 'Your export is still in progress' },
} as const;

const EXPORT_TEXTS: Record<keyof typeof BADGES, Entry> = {
  completed: { label: 'Completed', text: 'Everything was saved to your files.' },
  error: { label: 'Error', text: 'It is not finished. Nothing was deleted from your mailbox.' },
  started: { label: 'In progress', text: 'We are preparing your files.' },
};

const SAVED_IN_PART = 'Some of it could not be saved. Everything else was saved to your files.';

/** The three badges of `portal.md` §4, by how the export stands. */
const BADGE_OF = {
  success: 'completed',
  failed: 'error',
  interrupted: 'error',
  running: 'started',
} as const satisfies Record<Standing, keyof typeof BADGES>;

export function exportBadge(standing: Standing): Entry & { readonly kind: ShownStatus } {
  return { ...BADGES[BADGE_OF[standing]], kind: looksOf(standing) };
}

/** The same as {@link statusText}, for an operation of an export: there `started` lasts until its end. */
export function exportText(standing: Standing, leavesSomeOut: boolean): Entry {
  const entry = EXPORT_TEXTS[BADGE_OF[standing]];
  return standing === 'success' && leavesSomeOut ? { ...entry, text: SAVED_IN_PART } : entry;
}

const plural = new Intl.PluralRules(LOCALE);
const NOUNS = {
  email: { one: 'message', other: 'messages' },
  contacts: { one: 'contact', other: 'contacts' },
} as const;

export function counted(kind: Kind, count: number): string {
  return `${formatNumber(count)} ${NOUNS[kind][plural.select(count) === 'one' ? 'one' : 'other']}`;
}

const megabytes = new Intl.NumberFormat(LOCALE, { style: 'unit', unit: 'megabyte', maximumFractionDigits: 1 });
const gigabytes = new Intl.NumberFormat(LOCALE, { style: 'unit', unit: 'gigabyte', maximumFractionDigits: 1 });
const kilobytes = new Intl.NumberFormat(LOCALE, { style: 'unit', unit: 'kilobyte', maximumFractionDigits: 0 });

function formatBytes(bytes: number): string {
  if (bytes < 100_000) return unbroken(kilobytes.format(Math.ceil(bytes / 1000)));
  return unbroken(
    bytes < 1_000_000_000 ? megabytes.format(bytes / 1_000_000) : gigabytes.format(bytes / 1_000_000_000),
  );
}

const day = dateFormat({ dateStyle: 'long' });
const pacificDay = dateFormat({ dateStyle: 'long', timeZone: 'America/Los_Angeles' });

/** A day in Pacific time says so if the visitor's is another. */
const inPacific = (text: string, visitors: string) => (text === visitors ? text : `${text} (Pacific\u00a0time)`);

/** A day in Pacific time, as letters tell it. */
export const formatDay = (iso: string) => inPacific(pacificDay(Date.parse(iso)), day(Date.parse(iso)));

/** The last day of something, as {@link pacificDate} has it. */
export const formatLastDay = (iso: string) => inPacific(pacificDate(iso), day(Date.parse(iso) - 1));

export const status = {
  heading: 'Your transfer',
  settled: 'Here is the status of your transfer.',
  lead: 'This page updates by itself. You can close it, and your transfer will keep running.',
  follows: 'This page updates by itself.',
  stale: (lastHeard: string, isOwners: boolean) =>
    `We can't update this page right now. Your mail is safe${isOwners ? '' : ", and you don't have to do anything"}. Last update: ${formatMoment(lastHeard)}.`,
  id: 'Transfer ID',
  asking: 'Looking up your transfer…',
  email: 'Email transfer',
  contacts: 'Contacts transfer',
  progress: { email: 'Messages done', contacts: 'Contacts done' } satisfies Record<Kind, string>,
  count: (kind: Kind, done: number, total: number) => `${formatNumber(done)} of ${counted(kind, total)}`,
  share: (done: number, total: number) =>
    new Intl.NumberFormat(LOCALE, { style: 'percent' }).format(
      total === 0 ? 0 : Math.floor((100 * done) / total) / 100,
    ),
  counting: 'Counting what we will copy…',
  questions: {
    done: 'What was done',
    now: 'What is being done',
    when: 'When it will be done',
    wrong: 'If something is wrong',
  },
  nothing: 'There was nothing new to copy.',
  notCopied: 'Nothing was copied.',
  noneKnown: 'We know of no message that was copied.',
  empty: {
    email: 'There were no messages to copy.',
    contacts: 'There were no contacts to copy.',
  } satisfies Record<Kind, string>,
  done: (kind: Kind, done: number, bytes: number | undefined, isSaved = false) =>
    done === 0
      ? 'Nothing has been copied yet.'
      : `${counted(kind, done)} ${isSaved ? 'saved' : 'copied'}${bytes === undefined || bytes === 0 ? '' : ` (${formatBytes(bytes)})`}.`,
  present: (kind: Kind, count: number) =>
    `${counted(kind, count)} ${plural.select(count) === 'one' ? 'was' : 'were'} already there.`,
  moved: (count: number) =>
    plural.select(count) === 'one'
      ? `${counted('email', count)} was there before, and has been moved or deleted since. We don't copy it again.`
      : `${counted('email', count)} were there before, and have been moved or deleted since. We don't copy them again.`,
  startedAt: (iso: string) => `Started on ${formatMoment(iso)}.`,
  finishedAt: (iso: string) => `Finished on ${formatMoment(iso)}.`,
  stoppedAt: (iso: string) => `Stopped on ${formatMoment(iso)}.`,
  now: (legacyName: string) => ({
    counting: `We are counting what there is to copy. Nothing is deleted from your ${legacyName} mailbox.`,
    running: `We are copying now. Nothing is deleted from your ${legacyName} mailbox.`,
    success: 'Nothing. Everything is done.',
    failed: 'Nothing. It has stopped.',
    interrupted: 'Nothing at the moment. Your transfer is waiting.',
    started: 'Nothing yet. We begin in a moment.',
  }),
  /** Of an export, when its messages or contacts are all copied. */
  files: {
    made: (leavesSomeOut: boolean) => `${allCopied(leavesSomeOut)} Now we make your files.`,
    wait: {
      email: "Your messages are copied. We'll make the files once we have your contacts too.",
      contacts: "Your contacts are copied. We'll make the files once we have your messages too.",
    } satisfies Record<Kind, string>,
  },
  when: {
    running: 'It can take a few minutes or up to a day.',
    long: 'It takes longer than a day this time.',
    told: "We'll let you know when it is finished.",
    untold: 'This page tells you when it is finished.',
    success: 'It is done.',
    failed: 'It will not start again by itself. If you start it again, nothing is copied twice.',
    daily: (next: string) => `We try again by ourselves on ${formatMoment(next)}, when we look for new mail.`,
    failedExport: 'It will not start again by itself. You can start a new download.',
    interrupted: "We can't say yet. We'll carry on as soon as we can.",
  },
  /**
   * `ofExport`: what its owner moves while it is made may be in the files twice. `besides`: some could not be copied, as
   * is said elsewhere.
   */
  proven: (kind: Kind, ofExport: boolean, besides: boolean) => {
    const one = kind === 'email' ? 'message' : 'contact';
    const otherwise = ofExport ? 'changed' : 'duplicated or changed';
    const [checked, separator] = ofExport ? ['We checked your files', ' or '] : ['We compared both sides', ', '];
    return besides
      ? `${checked}: no other ${one} is missing, and none is ${otherwise}.`
      : `${checked}: no ${one} is missing${separator}${otherwise}.`;
  },
  /** Besides: what a provider keeps in a form of its own has all that was sent. */
  kept: (count: number) =>
    `Your new mailbox keeps ${counted('email', count)} in a form of its own. Nothing in ${plural.select(count) === 'one' ? 'it' : 'them'} is missing.`,
  unproven: (lost: string, duplicated: string, changed: string) =>
    `We compared both sides: ${lost} missing, ${duplicated} duplicated, ${changed} changed.`,
  /** Of messages: some were copied, and their owner has removed them there since. */
  skipped: (kind: Kind, count: number, ofExport: boolean, isLeast: boolean) => {
    const these = `${isLeast ? 'At least ' : ''}${counted(kind, count)}`;
    if (kind === 'contacts') return `${these} could not be copied`;
    const isOrAre = plural.select(count) === 'one' ? 'is' : 'are';
    return `${these} ${isOrAre} not in your ${ofExport ? 'files' : 'new mailbox'}`;
  },
  /** Whether they are still there nobody has looked since. */
  skippedHelp: {
    email: (legacyName) => `Nothing was deleted from your ${legacyName} mailbox.`,
    contacts: (legacyName) => `Nothing was deleted from your ${legacyName} address book.`,
  } satisfies Record<Kind, (legacyName: string) => string>,
  /** Of one that could not be read nobody knows its subject, and some have an empty one. */
  unnamed: { email: 'A message', contacts: 'A contact' } satisfies Record<Kind, string>,
  foldersLeft: (count: number, isLeast: boolean) =>
    `${isLeast ? 'At least ' : ''}${formatNumber(count)} ${plural.select(count) === 'one' ? 'folder' : 'folders'} could not be copied or checked`,
  /** Below a list that can't show everything. An export has no receipt. */
  listEnds: (ofExport: boolean) =>
    `This list ends here. It has room for ${formatNumber(SKIPPED_SHOWN)} lines.${ofExport ? '' : ' The receipt at the end lists everything.'}`,
  wrong: {
    before: (legacyName: string, isClosed: boolean) =>
      isClosed ? 'Please ' : `Your mail is safe in your ${legacyName} mailbox. Please `,
    link: 'contact support',
    after: (phone: string) => ` or call ${unbroken(phone)}, and have your transfer ID at hand.`,
  },
  /** Beside what only the browser's cookie opens: without it, one would be asked to sign in again and again. */
  withoutCookies:
    "This browser blocks cookies, so it can't download this. Please allow cookies for this site and sign in again, or use another browser.",
  withoutLine: 'You are offline. Please try this again when you are back online.',
  exports: {
    title: 'Your files',
    /** With several, each by its number: their names are long, and differ in a digit. */
    download: (name: string, place: number, count: number) =>
      count === 1 ? `Download ${name}` : `Download file ${formatNumber(place)} of ${formatNumber(count)}`,
    size: (name: string, size: number, count: number) =>
      count === 1 ? formatBytes(size) : `${name}, ${formatBytes(size)}`,
    until: (iso: string) => `Download your files by ${formatMoment(iso)}. Then we delete them.`,
    extract: (count: number) =>
      `Extract all first. On Windows, right-click ${count === 1 ? 'the' : 'each'} file and choose “Extract All”. On a Mac, double-click it. Then open ${count === 1 ? '“index.html”' : 'the file that begins with “index”'} in the new folder. It shows your mail.`,
    check: 'Checksum (SHA-256)',
    parts: (count: number) =>
      `Your mail is in ${formatNumber(count)} files of up to ${formatBytes(EXPORT_PART_OCTETS)} of mail each. Please download them all. Each one opens on its own.`,
    deleted: (isClosed: boolean) =>
      isClosed
        ? 'The files have been deleted. If you can still sign in to your mailbox, you can start a new download.'
        : 'The files have been deleted. Your mail is safe in your mailbox. You can start a new download if you need one.',
    anew: 'Start a new download',
    deleteTitle: 'When you no longer need the files here',
    deleteHelp: 'First check that you have the files on your computer. You can also leave this to us.',
    delete: 'Delete my export now',
    confirmTitle: 'Delete these files?',
    confirmText: 'You cannot download them after that. The mail in your mailbox stays as it is.',
    confirm: 'Delete',
    keep: 'Keep',
  },
  more: {
    button: 'Show more',
    lead: 'This page shows numbers only. To see everything of this transfer, sign in.',
    receiptLead:
      'This page shows numbers only. To see everything and to get your receipt, press “Show more” and sign in.',
    filesLead: 'Your files are ready. To download them, press “Show more” and sign in.',
    title: 'Sign in to see your transfer',
    help: (legacyName: string, hasFiles: boolean) =>
      `Use the email address and password of the ${legacyName} mailbox that your mail comes from.${hasFiles ? ' This also works when the mailbox is closed, as long as your files are here.' : ''}`,
  },
  notFound: {
    title: 'Your transfer ID has not been found',
    content: (ways: Ways) => [
      `Your mail is safe. Please check the ID: the ${TRANSFER_ID_LENGTH} letters and digits ${fromUs(ways)}.`,
      'We keep a transfer for a limited time after it has ended.',
    ],
  },
  failed: {
    title: 'Your status has not been found',
    content: ["Your transfer is not affected. We'll try again in a few seconds."],
  },
  retry: 'Try again',
  toHome: 'Go to Home',
} as const;

export const statusFromEmail = {
  heading: 'Your transfers',
  lead: 'Here are your latest transfers. The newest comes first.',
  asking: 'Looking up your transfers…',
  toHome: 'Go to Home',
  started: (iso: string) => `Started on ${formatMoment(iso)}`,
  to: (provider: string) => `To ${provider}:`,
  standing: {
    asking: 'Looking up how it is going…',
    unknown: 'We could not look up how it is going just now.',
    attention: 'Waiting for you. Please see its status.',
    running: 'In progress',
    interrupted: 'Waiting',
    undoing: 'Taking back',
    undone: 'Taken back',
    failed: 'It stopped. Please see its status.',
    success: 'Completed',
  },
  open: 'See its status',
  note: 'For older transfers, please use the transfer ID provided in the notification email.',
  none: {
    title: 'Your transfers have not been found',
    content: (ways: Ways) => [
      `Your mail is safe. Please use the transfer ID ${fromUs(ways)}, or sign in once more to the mailbox that you moved to.`,
      `For both, go to Home and press “${home.lookup}”.`,
    ],
  },
} as const;
