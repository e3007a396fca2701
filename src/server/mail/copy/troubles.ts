import { isRefusal, MailboxRenumbered, MailError } from '../imap/mail-error.ts';
import type { Run } from './run.ts';

/** What servers say of one mailbox as well as of all. */
const OWN_CODES = new Set(['SERVERBUG', 'INUSE', 'UNAVAILABLE']);
/** After so many times in one run the others go on without it. */
const TIMES = 3;
/** Runs in a row that move nothing, after which what a server has trouble with, or refuses without a reason, is left: some four minutes. */
export const TROUBLED_RUNS = 8;
/** Runs that have moved nothing leave so long, one after the other, to a server that has refused messages. */
const AGAIN_AFTER_MS = [60_000, 180_000];
/** So many messages of a mailbox may be the cause of as many times each. */
const MESSAGES = 20;

/**
 * Whether an error that a server calls passing, or another UIDVALIDITY each time, has come so often at one mailbox that it is taken for the mailbox's own.
 * @param other its path at the other side, where that has a part in it
 */
export function isTroubled(error: unknown, mailbox: string, run: Run, other = mailbox): error is MailError {
  if (!(error instanceof MailError) || error.pause !== undefined) return false;
  if (!(error instanceof MailboxRenumbered) && !OWN_CODES.has(error.responseCode ?? '')) return false;
  const messages = Math.min(Math.max(run.faults(messagesOf(mailbox)), run.faults(messagesOf(other))), MESSAGES);
  return run.noteFault(`trouble with ${mailbox}`) >= TIMES * (messages + 1);
}

/** What a run counts those messages of a mailbox by at which a server breaks off each time. */
export function messagesOf(mailbox: string): string {
  return `messages of ${mailbox}`;
}

/**
 * For messages that were refused, or not handed out, by no fault that can be seen in them: some servers do that for a
 * while, with all. @returns what makes the transfer wait before they are asked for again; `null` when it has waited enough
 */
export function waitForRefused(idleRuns: number): MailError | null {
  const pause = AGAIN_AFTER_MS[idleRuns - 1];
  if (pause === undefined) return null;
  return new MailError('busy', 'A mail server refuses messages, perhaps for a while only.', { pause });
}

/**
 * @param note is told of either
 * @returns `null` where the server refuses what is asked of a mailbox, or has trouble with it each time
 */
export async function unlessTroubled<Answer>(
  asking: Promise<Answer>,
  mailbox: string,
  run: Run,
  note: (error: MailError) => void,
): Promise<Answer | null> {
  try {
    return await asking;
  } catch (error) {
    if (!isRefusal(error) && !isTroubled(error, mailbox, run)) throw error;
    note(error);
    return null;
  }
}
