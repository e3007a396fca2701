import type { AttentionReason } from '../../contract/calls/status.ts';
import { ContactStoreError } from '../contacts/contact-store.ts';
import { isDiskFull } from '../export/disk/disk-room.ts';
import { ExportPaused } from '../export/export.job.ts';
import { ProviderLimit } from '../mail/copy/run/budget.ts';
import { RefusedForNow } from '../mail/copy/troubles/troubles.ts';
import { isBareRefusal, isGoodbye, MailError, mayBeForGood } from '../mail/imap/mail-error.ts';
import { ConsentError, TokenUnavailable } from '../oauth/token-errors.ts';
import { Stopped } from '../stopped.ts';
import { DatabaseUnavailable } from '../store/database-faults.ts';
import { LeaseLost } from '../transfers/lease.ts';
import type { OperationEnd, Waiting } from '../transfers/operations.ts';
import { SENTENCES } from './sentences.ts';

/** Runs in a row that moved nothing, with pauses of up to five minutes: about two hours. */
export const IDLE_RUNS = 28;
/**
 * A mail server, a provider's sign-in or an address book may be unreachable for a night or a weekend, and a quota of
 * contacts used up until tomorrow: this many runs, most of them half an hour apart, take three days.
 */
const AWAY_RUNS = IDLE_RUNS + 144;
/**
 * Gmail ends every connection with BYE for up to a day when its daily limit is exceeded: 30 hours, soon an hour apart,
 * as each run signs in some fifty times.
 */
const SENT_AWAY_RUNS = 41;
/** Runs in a row that moved nothing because a server only answers a plain NO, with pauses: about four minutes. */
const REFUSED_RUNS = 8;
/** How often to try a sign-in that has worked before, as it may be refused for a moment. */
const SIGN_IN_TRIES = 3;
const FIRST_PAUSE_SECONDS = 2;
const LONGEST_PAUSE_SECONDS = 300;
const LONGEST_AWAY_PAUSE_SECONDS = 1800;
const LONGEST_BUSY_PAUSE_SECONDS = 3600;
const DAY_MS = 86_400_000;
/**
 * Runs that died with their worker count as idle, too: without this limit, a transfer stood still for two minutes more
 * after seven.
 */
const LONGEST_PAUSE_AFTER_CRASH_SECONDS = 10;

/** What happens to an operation after an error stopped it. `pass on`: this worker is not the one to judge. */
export type Verdict =
  | { readonly kind: 'end'; readonly end: OperationEnd }
  /** It continues once its owner has put something right. `credentials`: a password, or consent at the provider. */
  | {
      readonly kind: 'attention';
      readonly side: 'source' | 'destination';
      readonly reason: Exclude<AttentionReason, 'password' | 'consent'> | 'credentials';
      readonly end: { readonly status: 'review' | 'authentication_error'; readonly failure: string };
    }
  | { readonly kind: 'later'; readonly seconds: number; readonly waiting?: Waiting }
  | { readonly kind: 'pass on' };

/**
 * @param idleRuns how many runs in a row have moved nothing, this one included
 * @param hasMoved whether the operation has ever moved anything
 * @param now milliseconds since the epoch
 */
export function verdictOn(error: unknown, idleRuns: number, hasMoved: boolean, now: number): Verdict {
  if (error instanceof Stopped || error instanceof LeaseLost) return { kind: 'pass on' };
  return (
    ourOwnTrouble(error, idleRuns) ??
    limitReached(error, now) ??
    attentionOn(error, idleRuns, hasMoved) ??
    finalRefusal(error, idleRuns) ??
    laterOrNever(error, idleRuns, now)
  );
}

/**
 * The operator will make room on the disk, which may be that of the embedded database, and the database will come back,
 * so both are waited for indefinitely.
 */
function ourOwnTrouble(error: unknown, idleRuns: number): Verdict | null {
  const isFull = isDiskFull(error);
  const waiting = isFull ? ({ waiting: { reason: 'disk' } } as const) : {};
  if (error instanceof DatabaseUnavailable)
    return { kind: 'later', seconds: pauseAfterDatabase(error, idleRuns), ...waiting };
  if (!isFull && !(error instanceof ExportPaused)) return null;
  return { kind: 'later', seconds: LONGEST_PAUSE_SECONDS, waiting: { reason: 'disk' } };
}

/** In seconds. If the pause can be recorded, a database that was away is back. One that refuses may go on refusing. */
export function pauseAfterDatabase({ wasAway }: DatabaseUnavailable, idleRuns: number): number {
  return pauseAfter(idleRuns, wasAway ? LONGEST_PAUSE_AFTER_CRASH_SECONDS : LONGEST_PAUSE_SECONDS);
}

function limitReached(error: unknown, now: number): Verdict | null {
  if (!(error instanceof ProviderLimit)) return null;
  const { until } = error;
  const seconds = Math.max(FIRST_PAUSE_SECONDS, (until - now) / 1000);
  return { kind: 'later', seconds, waiting: { reason: 'provider_limit', until } };
}

/** For faults that may pass by themselves. */
function laterOrNever(error: unknown, idleRuns: number, now: number): Verdict {
  if (isLastRun(error, idleRuns)) return ending(sentenceAfterAll(error));
  const seconds = secondsBeforeNext(error, pauseAfter(idleRuns, patienceWith(error, idleRuns).longestPause));
  const waiting = waitingFor(error, idleRuns, now + seconds * 1000);
  return { kind: 'later', seconds, ...(waiting === null ? {} : { waiting }) };
}

/** Whether the operation ends if its run ends with this fault, which may pass by itself. */
export function isLastRun(error: unknown, idleRuns: number): boolean {
  return idleRuns >= patienceWith(error, idleRuns).runs;
}

/** How many runs in a row may move nothing, and the longest pause between them in seconds. */
function patienceWith(error: unknown, idleRuns: number): { readonly runs: number; readonly longestPause: number } {
  // A server that asks for a pause will let us continue, however often it asks.
  if (isBusy(error)) return { runs: Infinity, longestPause: LONGEST_BUSY_PAUSE_SECONDS };
  const isOfMail = error instanceof MailError;
  // `attentionOn` ends them.
  if (isOfMail && triesOf(error) !== undefined) return { runs: Infinity, longestPause: LONGEST_PAUSE_SECONDS };
  if (isOfMail && isGoodbye(error) && idleRuns <= SENT_AWAY_RUNS)
    return { runs: SENT_AWAY_RUNS, longestPause: LONGEST_BUSY_PAUSE_SECONDS };
  // There are more idle runs of mail only if it was away: what fails just when it is back ends nothing.
  if ((isAway(error, idleRuns) && idleRuns >= IDLE_RUNS) || (isOfMail && idleRuns > IDLE_RUNS))
    return { runs: AWAY_RUNS, longestPause: LONGEST_AWAY_PAUSE_SECONDS };
  return { runs: IDLE_RUNS, longestPause: LONGEST_PAUSE_SECONDS };
}

/**
 * After how many idle runs in a row a refusal that may be momentary is left to the owner. After more of them there was
 * another fault before: a server that comes back may refuse at first, so that refusals count anew.
 */
function triesOf(error: MailError): number | undefined {
  if (error.fault === 'credentials') return SIGN_IN_TRIES;
  return isBareRefusal(error) ? REFUSED_RUNS : undefined;
}

function isAway(error: unknown, idleRuns: number): boolean {
  if (error instanceof TokenUnavailable) return true;
  // A quota of contacts that is used up (403, 429) is renewed tomorrow; 502 and 504 are a proxy's answer for a server
  // that is gone.
  if (error instanceof ContactStoreError) {
    if (error.pause !== undefined && runsWithin(error.pause) > 1) return true;
    // There are more idle runs than that only after a requested pause, or a fault that is waited for.
    if (error.fault === 'unavailable' && idleRuns > IDLE_RUNS) return true;
    if (error.isThere) return false;
    return error.status === undefined ? error.pause === undefined : [403, 429, 502, 504].includes(error.status);
  }
  return error instanceof MailError && (error.fault === 'unreachable' || error.fault === 'certificate');
}

/**
 * Whether an export waits for its contacts. The mail in the same archive does not wait for days, except for a quota
 * that is renewed tomorrow, and for a fault after a long requested pause, which has counted as more runs than there are
 * without one; and not for hours for an address book that refuses, as it does to somebody who has none.
 */
export function delaysExport(error: ContactStoreError, idleRuns: number): boolean {
  if (error.fault === 'unexpected') return idleRuns < IDLE_RUNS;
  if (error.fault !== 'unavailable') return idleRuns < REFUSED_RUNS;
  if (idleRuns < IDLE_RUNS || error.status === 429) return true;
  return idleRuns > IDLE_RUNS && idleRuns < IDLE_RUNS + runsWithin(DAY_MS) && runsWithin(error.pause ?? 0) === 1;
}

/** A requested pause is kept exactly, unless every run counts: short pauses would soon use up the tries. */
function secondsBeforeNext(error: unknown, pause: number): number {
  const asked = error instanceof MailError || error instanceof ContactStoreError ? error.pause : undefined;
  if (asked === undefined) return pause;
  return Math.max(isBusy(error) ? 1 : pause, asked / 1000);
}

/** How many runs a pause that was asked for, in milliseconds, stands for: a day of it must not count like a minute. */
function runsWithin(pause: number): number {
  return Math.max(1, Math.floor(pause / 1000 / LONGEST_AWAY_PAUSE_SECONDS));
}

function isBusy(error: unknown): boolean {
  return error instanceof MailError && error.fault === 'busy';
}

/** What the owner is told about the pause; nothing if no other server causes it. */
function waitingFor(error: unknown, idleRuns: number, until: number): Waiting | null {
  if (error instanceof MailError) {
    const reason = isBusy(error) || isBareRefusal(error) ? 'busy' : 'unreachable';
    // Counted as the first idle run, in place of all before it.
    const isFirstRefusal = idleRuns > (triesOf(error) ?? Infinity);
    return {
      reason,
      until,
      ...(error instanceof RefusedForNow ? { waited: error.waited } : {}),
      ...(isFirstRefusal ? { counts: 2 - idleRuns } : mayBeForGood(error) ? { counts: 1 } : {}),
    };
  }
  if (error instanceof ContactStoreError) {
    const hasAnswered = error.isThere || error.fault !== 'unavailable' || (error.status ?? error.pause) !== undefined;
    return { reason: hasAnswered ? 'busy' : 'unreachable', until, counts: runsWithin(error.pause ?? 0) };
  }
  return error instanceof TokenUnavailable ? { reason: 'unreachable', until } : null;
}

/** In seconds. */
function pauseAfter(idleRuns: number, longest: number): number {
  return Math.min(longest, FIRST_PAUSE_SECONDS * 2 ** (Math.min(Math.max(1, idleRuns), IDLE_RUNS) - 1));
}

/** For faults that the owner can put right. */
function attentionOn(error: unknown, idleRuns: number, hasMoved: boolean): Verdict | null {
  if (error instanceof ConsentError) return refusedSignIn('destination');
  if (error instanceof ContactStoreError) {
    if (error.fault === 'authentication') return refusedSignIn(error.account ?? 'destination');
    return error.fault === 'full' ? needs('destination', 'full', SENTENCES.contactsFull) : null;
  }
  if (!(error instanceof MailError)) return null;
  const side = error.account ?? 'destination';
  switch (error.fault) {
    case 'credentials':
      return hasMoved && idleRuns !== SIGN_IN_TRIES ? null : refusedSignIn(side);
    case 'full':
      return side === 'source' ? needs(side, 'refused', SENTENCES.refused) : needs(side, 'full', SENTENCES.full);
    case 'refused':
      if (isBareRefusal(error) && idleRuns !== REFUSED_RUNS) return null;
      return needs(side, 'refused', SENTENCES.refused);
    case 'busy':
      return mayBeForGood(error) && idleRuns >= IDLE_RUNS ? needs(side, 'refused', SENTENCES.refused) : null;
    case 'certificate':
    case 'unreachable':
    case 'slow':
    case 'lost':
      return null;
  }
}

function refusedSignIn(side: 'source' | 'destination'): Verdict {
  const failure = side === 'source' ? SENTENCES.sourceCredentials : SENTENCES.destinationCredentials;
  return { kind: 'attention', side, reason: 'credentials', end: { status: 'authentication_error', failure } };
}

function needs(side: 'source' | 'destination', reason: 'full' | 'refused', failure: string): Verdict {
  return { kind: 'attention', side, reason, end: { status: 'review', failure } };
}

function ending(failure: string): Verdict {
  return { kind: 'end', end: { status: 'review', failure } };
}

/**
 * A refusal by an address book that no later run would change. While it is out of order, it refuses everything, or
 * something before it answers in its place, for an hour perhaps.
 */
function finalRefusal(error: unknown, idleRuns: number): Verdict | null {
  if (!(error instanceof ContactStoreError)) return null;
  switch (error.fault) {
    case 'refused':
    case 'unexpected':
      if (idleRuns < IDLE_RUNS) return null;
      return ending(error.account === 'source' ? SENTENCES.contactsNotRead : SENTENCES.contactsRefused);
    case 'too many':
      return ending(error.account === 'source' ? SENTENCES.contactsTooMany : SENTENCES.newContactsTooMany);
    case 'full':
    case 'authentication':
    case 'unavailable':
      return null;
  }
}

/** For faults that did not pass after all. */
function sentenceAfterAll(error: unknown): string {
  if (error instanceof MailError) {
    if (error.fault === 'certificate') return SENTENCES.certificate;
    if (error.account === 'source') return SENTENCES.sourceUnreachable;
    return error.account === 'destination' ? SENTENCES.destinationUnreachable : SENTENCES.unreachable;
  }
  if (error instanceof ContactStoreError)
    return error.account === 'source' ? SENTENCES.contactsUnreachable : SENTENCES.newContactsUnreachable;
  return error instanceof TokenUnavailable ? SENTENCES.destinationUnreachable : SENTENCES.unexpected;
}
