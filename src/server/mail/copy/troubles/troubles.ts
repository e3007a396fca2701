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

/** Codes that servers use for faults of one mailbox as well as of all. */
const OWN_CODES = new Set(['SERVERBUG', 'INUSE', 'UNAVAILABLE']);
/** After this many failures at a mailbox in one run, the others go on without it. */
const TIMES = 3;
/** The pauses before what a server has refused is left out, some four minutes in all. */
const WAITS_MS = [5_000, 15_000, 60_000, 180_000];
/** Longer if a server drops the connection: the network may be to blame. */
const WAITS_FOR_HANG_UPS_MS = [...WAITS_MS, 900_000, 3_600_000];
/**
 * Longer still, for more than a day, for a server that fails at all mailboxes, or may answer BYE to everything for a
 * day.
 */
const WAITS_FOR_ALL_MS = [...WAITS_FOR_HANG_UPS_MS, ...Array.from({ length: 24 }, () => 3_600_000)];
/**
 * At most this many messages of a mailbox raise the number of failures it is allowed, each by as many tries as it gets.
 */
export const MESSAGES = 20;

/**
 * Something was refused without a code, not handed out, or answered by a code such as SERVERBUG, and may succeed in a
 * later run: some servers fail at everything for a while. The operation counts these pauses, so that they end.
 */
export class RefusedForNow extends MailError {
  /** Which of the operation's counters counts it. */
  readonly waited: keyof Waits;

  constructor(waited: keyof Waits, pause: number, cause?: unknown) {
    super('busy', 'A mail server refuses something, perhaps for a while only.', { pause, cause });
    this.waited = waited;
  }
}

/** @returns the error that makes the operation wait for what was refused; `null` when it has waited often enough */
export function refusedForNow({ refusalWaits }: Pick<Waits, 'refusalWaits'>, cause?: unknown): RefusedForNow | null {
  return waitAt(WAITS_MS, 'refusalWaits', refusalWaits, cause);
}

/**
 * The same for a server that fails at all mailboxes, drops the connection at one, or whose BYEs at messages may have
 * concerned the account.
 */
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
 * Whether an error has come so often at one mailbox that it is taken for the mailbox's own: a code for passing faults,
 * a limit, another UIDVALIDITY each time, or a dropped connection.
 * @param other its path at the other side, if that is involved
 */
export function isTroubled(error: unknown, mailbox: string, run: Faults, other = mailbox): error is MailError {
  if (!(error instanceof MailError) || error.pause !== undefined) return false;
  const isOwn = error instanceof MailboxRenumbered || error instanceof HangsUp || isLasting(error);
  if (!isOwn && !OWN_CODES.has(error.responseCode ?? '')) return false;
  const [times, most] = [run.noteFault(troubleName(mailbox)), mostOf(mailbox, other, run)];
  // Lanes allow fewer tries in a row than that, and what comes after this mailbox gets as many tries again.
  if (times <= most && times % TIMES === 0) run.looked();
  if (times < most) return false;
  // So many messages in a mailbox that opens: the server may be failing for a while.
  if (isInTrouble(error) && troubledMessages(mailbox, other, run) >= MESSAGES) noteLeftByTrouble(run);
  return true;
}

/**
 * @param note called with the error then
 * @param other as for {@link isTroubled}
 * @returns `null` if the server refuses what is asked of a mailbox, or fails at it each time
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
 * For side requests: the rest of the work goes on without an answer. What has failed often enough is not asked again in
 * this run, as the server may drop the connection each time.
 * @param why it is asked; failures are counted by this
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
 * Opens a mailbox of the destination to look for something in it on the side, as {@link unlessInTrouble}. A refusal
 * without a code counts as `in trouble`: what is looked for may be there.
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

/** How many failures a mailbox is allowed, which depends on how many messages in it the server fails at. */
function mostOf(mailbox: string, other: string, run: Faults): number {
  return TIMES + (BREAKS_TOGETHER + BREAKS_ALONE) * Math.min(troubledMessages(mailbox, other, run), MESSAGES);
}

function troubledMessages(mailbox: string, other: string, run: Faults): number {
  return Math.max(run.faults(messagesOf(mailbox)), run.faults(messagesOf(other)));
}

/** Repeats what is refused without a code, as that may be momentary. @throws {MailError} the last refusal */
export async function askedAgain<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 1; ; tries += 1)
    try {
      return await ask();
    } catch (error) {
      if (tries === TIMES || !isBareRefusal(error)) throw error;
    }
}

/** @returns `null` if the server refuses it with a code, or each time */
export function unlessRefusedAgain<Answer>(ask: () => Promise<Answer>): Promise<Answer | null> {
  return unlessRefused(askedAgain(ask));
}

/** Some servers refuse STATUS of a mailbox, but let it be opened. @throws {MailError} if both are refused */
export async function validityOf(path: string, reader: MailReader): Promise<bigint> {
  const state = (await unlessRefusedAgain(() => reader.status(path))) ?? (await askedAgain(() => reader.open(path)));
  return state.uidValidity;
}
