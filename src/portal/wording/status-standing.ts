import type { Progress } from '../../contract/calls/status.ts';
import { copiedBy, isTakenBack, leavesSomeOut, type ShownStatus, standingOf } from '../../contract/transfer-status.ts';
import { attention as attentionWords } from './acts.ts';
import {
  cancelled,
  comparing,
  isComparing,
  takenBackText,
  takingBack,
  timeLeftWords,
  undone,
  waiting as waitingWords,
} from './status-life.ts';
import { exportText, looksOf, status as words, statusText } from './status.ts';

export type StandingWords = {
  readonly looks: ShownStatus | 'stopped' | 'waiting';
  readonly label: string;
  /** A paragraph each, the second one stressed. */
  readonly texts: readonly string[];
  readonly now: string;
  /** When it will be done; nothing where that has been said. */
  readonly when?: string;
};

const DAY_MS = 24 * 3_600_000;

/** What belongs to how an operation stands, besides its progress. */
export type Standpoint = {
  readonly kind: 'email' | 'contacts';
  /** Whether the operation belongs to an export. */
  readonly ofExport: boolean;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Whether the owner will be notified of the end. */
  readonly isTold: boolean;
  readonly legacyName: string;
  /** The other operation of the same transfer: the files of an export are made when both are copied. */
  readonly beside?: Progress | undefined;
  /** When new mail is looked for next, once a day (ISO 8601). */
  readonly looksAgain?: string | undefined;
};

/** How one operation stands, in words. */
export function standingWords(progress: Progress, from: Standpoint): StandingWords {
  const said = wordsOf(progress, from);
  if (from.ofExport && said.looks === 'running' && isAllCopied(progress))
    return { ...said, ...filesWords(progress, from) };
  return progress.taking_back === true ? { ...said, now: takingBack } : said;
}

function wordsOf(
  progress: Progress,
  { kind, ofExport, at, isTold, legacyName, looksAgain }: Standpoint,
): StandingWords {
  const now = words.now(legacyName);
  const { status, failure, finished, attention, waiting } = progress;
  const standing = standingOf(progress);
  const looks = looksOf(standing);
  const { label, text } = ofExport ? exportText(standing, leavesSomeOut(progress)) : statusText(status, kind);
  if (attention !== undefined)
    return {
      looks: 'waiting',
      label: attentionWords.label,
      texts: [],
      now: attentionWords.now,
      when: attentionWords.when(attention.until, kind),
    };
  if (progress.ended === 'cancelled')
    return {
      looks: 'stopped',
      label: cancelled.label,
      texts: [
        ofExport ? cancelled.ofExport : cancelled.text(isTakenBack(progress), kind, legacyName),
        ...(failure === undefined ? [] : [failure]),
      ],
      now: cancelled.now,
    };
  if (waiting !== undefined && finished === undefined)
    return {
      looks: 'waiting',
      label: waitingWords.label,
      texts: [waitingWords.why(waiting, kind)],
      now: kind === 'contacts' ? waitingWords.nowContacts : now.interrupted,
      when: waitingWords.when(waiting),
    };
  if (looks === 'success' && isTakenBack(progress)) {
    const isUnderWay = progress.taking_back === true;
    const stays = (progress.taken_back ?? 0) < copiedBy(progress);
    return {
      looks: 'stopped',
      label: undone.label(isUnderWay),
      texts: [isUnderWay ? takingBack : undone.text(stays, legacyName), ...(failure === undefined ? [] : [failure])],
      now: now[standing],
    };
  }
  // Of what is taken back nobody says that it stays.
  const first = looks === 'failed' && isTakenBack(progress) ? takenBackText(legacyName) : text;
  const texts = failure === undefined ? [first] : [first, failure];
  if (isComparing(progress))
    return {
      looks,
      label,
      texts,
      now: comparing.now(leavesSomeOut(progress)),
      when: whenDone(progress, at, isTold),
    };
  const of = ofExport && standing === 'failed' ? 'failedExport' : standing;
  let when: string = of === 'running' || of === 'interrupted' ? whenDone(progress, at, isTold) : words.when[of];
  if (of === 'failed' && kind === 'email' && looksAgain !== undefined) when = words.when.daily(looksAgain);
  return {
    looks,
    label,
    texts,
    now: now[isAboutToBegin(progress, ofExport) ? 'started' : isCounting(progress) ? 'counting' : standing],
    ...(finished === undefined || looks === 'failed' ? { when } : {}),
  };
}

/** What is being done, and when it will be done, of an export's mail or contacts that are all copied. */
function filesWords(progress: Progress, from: Standpoint): Pick<StandingWords, 'now' | 'when'> {
  const { kind, beside } = from;
  if (beside === undefined || beside.finished !== undefined || isAllCopied(beside))
    return { now: words.files.made([progress, beside ?? progress].some(leavesSomeOut)) };
  const { when } = wordsOf(beside, { ...from, kind: kind === 'email' ? 'contacts' : 'email' });
  return { now: words.files.wait[kind], ...(when === undefined ? {} : { when }) };
}

function isAllCopied({ done = 0, total }: Progress): boolean {
  return total !== undefined && done >= total;
}

/** Nobody knows yet how much there is to copy. */
function isCounting(progress: Progress): boolean {
  return standingOf(progress) === 'running' && progress.total === undefined && (progress.done ?? 0) === 0;
}

/** Of an export `started` lasts until its end. */
export function isAboutToBegin({ status, done = 0 }: Progress, ofExport: boolean): boolean {
  return !ofExport && status.toLowerCase() === 'started' && done === 0;
}

function whenDone(progress: Progress, now: number, isTold: boolean): string {
  const { left, started } = progress;
  if (left !== undefined) return timeLeftWords(left);
  const isLong = started !== undefined && now - Date.parse(started) > DAY_MS;
  const when = standingOf(progress) === 'interrupted' ? 'interrupted' : isLong ? 'long' : 'running';
  return `${words.when[when]} ${isTold ? words.when.told : words.when.untold}`;
}
