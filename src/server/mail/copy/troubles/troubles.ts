import {
  isBareRefusal,
  isInTrouble,
  isLasting,
  isRefusal,
  MailboxRenumbered,
  MailError,
  unlessRefused,
} from '../../imap/mail-error.ts';
import type { MailReader, Opened } from '../../imap/streams.ts';
import type { Waits } from '../run/mail-copy.ts';
import { BREAKS_ALONE, BREAKS_TOGETHER, messagesOf, noteLeftByTrouble, type Faults } from './breaks.ts';
import { HangsUp, notingHangUps, type Openings } from './hang-ups.ts';

/** What servers say of one mailbox as well as of all. */
const OWN_CODES = new Set(['SERVERBUG', 'INUSE', 'UNAVAILABLE']);
/** After so many times in one run the others go on without it. */
const TIMES = 3;
/** An operation waits so long, one time after the other, before what a server has refused is left: some four minutes. */
const WAITS_MS = [5_000, 15_000, 60_000, 180_000];
/** Longer where a server hangs up: a line that breaks may be to blame. */
const WAITS_FOR_HANG_UPS_MS = [...WAITS_MS, 900_000, 3_600_000];
/** Longer still, for more than a day, for a server that is in trouble with all mailboxes, or may say goodbye to all for a day. */
const WAITS_FOR_ALL_MS = [...WAITS_FOR_HANG_UPS_MS, ...Array.from({ length: 24 }, () => 3_600_000)];
/** So many messages of a mailbox, at most, may each be the cause of as many times as it is asked for. */
export const MESSAGES = 20;

/**
 * What was refused without a reason, was not handed out, or is in trouble, may be done by a later run: some servers are
 * like that for a while, with all that they are asked for. The operation counts these, so that they end.
 */
export class RefusedForNow extends MailError {
  /** What counts it. */
  readonly waited: keyof Waits;

  constructor(waited: keyof Waits, pause: number, cause?: unknown) {
    super('busy', 'A mail server refuses something, perhaps for a while only.', { pause, cause });
    this.waited = waited;
  }
}

/** @returns what makes the operation wait for what was refused; `null` when it has waited often enough */
export function refusedForNow({ refusalWaits }: Pick<Waits, 'refusalWaits'>, cause?: unknown): RefusedForNow | null {
  return waitAt(WAITS_MS, 'refusalWaits', refusalWaits, cause);
}

/** The same for a server that is in trouble with all mailboxes, hangs up at one, or may have said goodbye to single messages. */
export function troubledForNow(
  { troubleWaits }: Pick<Waits, 'troubleWaits'>,
  trouble: 'all' | 'goodbyes' | HangsUp,
): RefusedForNow | null {
  const pauses = trouble === 'all' ? WAITS_FOR_ALL_MS : WAITS_FOR_HANG_UPS_MS;
  return waitAt(pauses, 'troubleWaits', troubleWaits, trouble instanceof HangsUp ? trouble : undefined);
}

function waitAt(pauses: readonly number[], waited: keyof Waits, times: number, cause?: unknown): RefusedForNow | null {
  const pause = pauses[times];
  return pause === undefined ? null : new RefusedForNow(waited, pause, cause);
}

/**
 * Whether an error that a server calls passing, another UIDVALIDITY each time, or a hang-up, has come so often at one mailbox
 * that it is taken for the mailbox's own.
 * @param other its path at the other side, where that has a part in it
 */
export function isTroubled(error: unknown, mailbox: string, run: Faults, other = mailbox): error is MailError {
  if (!(error instanceof MailError) || error.pause !== undefined) return false;
  const isOwn = error instanceof MailboxRenumbered || error instanceof HangsUp || isLasting(error);
  if (!isOwn && !OWN_CODES.has(error.responseCode ?? '')) return false;
  const [times, most] = [run.noteFault(troubleName(mailbox)), mostOf(mailbox, other, run)];
  // Lanes try less often in a row, and what comes after it is tried as often again.
  if (times <= most && times % TIMES === 0) run.looked();
  if (times < most) return false;
  // It opens, and nothing passes: the server may be in trouble for a while.
  if (isInTrouble(error) && troubledMessages(mailbox, other, run) >= MESSAGES) noteLeftByTrouble(run);
  return true;
}

/**
 * @param note is told of either
 * @param other as for {@link isTroubled}
 * @returns `null` where the server refuses what is asked of a mailbox, or has trouble with it each time
 */
export async function unlessTroubled<Answer>(
  asking: Promise<Answer>,
  mailbox: string,
  run: Faults,
  note: (error: MailError) => void,
  other = mailbox,
): Promise<Answer | null> {
  try {
    return await asking;
  } catch (error) {
    if (!isRefusal(error) && !isTroubled(error, mailbox, run, other)) throw error;
    note(error);
    return null;
  }
}

/**
 * What is asked by the way: what else is to be done goes on without an answer. What has been in trouble often enough is not
 * asked again in this run, as the server may hang up each time.
 * @param why it is asked, which its trouble is counted by
 * @param path of the mailbox
 */
export async function unlessInTrouble<Answer>(
  ask: () => Promise<Answer>,
  why: string,
  path: string,
  run: Faults,
  note: (error: MailError) => void = () => {},
): Promise<Answer | null> {
  const name = `${why} ${path}`;
  if (run.faults(troubleName(name)) >= mostOf(name, path, run)) return null;
  return unlessTroubled(ask(), name, run, note, path);
}

/**
 * Opens a mailbox of the destination in which something is looked for by the way, as {@link unlessInTrouble}. What is refused
 * without a reason may be there as well.
 */
export async function openAside(
  path: string,
  why: string,
  checker: MailReader,
  run: Faults & Openings,
): Promise<Opened | 'refused' | 'in trouble'> {
  let isRefused = false;
  const open = () => notingHangUps('destination', path, checker, run, () => askedAgain(() => checker.open(path)));
  const opened = await unlessInTrouble(open, why, path, run, (error) => {
    isRefused = isRefusal(error) && !isBareRefusal(error);
  });
  return opened ?? (isRefused ? 'refused' : 'in trouble');
}

function troubleName(mailbox: string): string {
  return `trouble with ${mailbox}`;
}

/** How often a mailbox may be in trouble, with so many messages at which the server breaks off. */
function mostOf(mailbox: string, other: string, run: Faults): number {
  return TIMES + (BREAKS_TOGETHER + BREAKS_ALONE) * Math.min(troubledMessages(mailbox, other, run), MESSAGES);
}

function troubledMessages(mailbox: string, other: string, run: Faults): number {
  return Math.max(run.faults(messagesOf(mailbox)), run.faults(messagesOf(other)));
}

/** A refusal without a reason may be for that moment. @throws {MailError} the refusal that it was the last time */
export async function askedAgain<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 1; ; tries += 1)
    try {
      return await ask();
    } catch (error) {
      if (tries === TIMES || !isBareRefusal(error)) throw error;
    }
}

/** @returns `null` where the server refuses it with a reason, or each time */
export function unlessRefusedAgain<Answer>(ask: () => Promise<Answer>): Promise<Answer | null> {
  return unlessRefused(askedAgain(ask));
}

/** Some servers refuse a mailbox's state and let it be opened all the same. @throws {MailError} where both are refused */
export async function validityOf(path: string, reader: MailReader): Promise<bigint> {
  const state = (await unlessRefusedAgain(() => reader.status(path))) ?? (await askedAgain(() => reader.open(path)));
  return state.uidValidity;
}
