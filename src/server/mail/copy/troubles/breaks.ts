import { isBreak, isFarewell, isInTrouble, MailError } from '../../imap/mail-error.ts';
import { observed } from '../../imap/observed-octets.ts';
import type { Fetched, MailReader } from '../../imap/streams.ts';
import type { Run } from '../run/run.ts';
import type { Account } from '../run/sessions.ts';

/**
 * Some servers drop the connection at the same message each time. After the first number of breaks among other
 * messages, it is asked for alone, after all others; after the second number alone, it is left out.
 */
export const [BREAKS_TOGETHER, BREAKS_ALONE] = [2, 2];

/** A poor connection breaks at a different octet of a message each time; beyond this many such breaks, each counts. */
const BREAKS_WITHIN = 4;

/** Beyond this many BYEs in a row, with no message passing in between, they concern the account (Gmail, for a day). */
const GOODBYES_AT_MOST = 20;
/**
 * If this many messages are left out for SERVERBUG or UNAVAILABLE, with none passing in between, the server may be at
 * fault for a while.
 */
const TROUBLED_FROM = 3;
const LEFT_BY_TROUBLE = 'left by trouble';
export type Faults = Pick<Run, 'faults' | 'noteFault' | 'forgetFaults' | 'looked'>;

/** An opened mailbox. Its `name` contains the account and UIDVALIDITY, and is unique within a transfer. */
export type Place = {
  readonly account: Account;
  readonly reader: MailReader;
  readonly path: string;
  readonly uidValidity: bigint;
  readonly name: string;
};

/** The ways that messages pass: read from an account, or appended to the destination. */
const PASSING = ['source', 'destination', 'appends'] as const satisfies readonly (Account | 'appends')[];
type Passing = (typeof PASSING)[number];

/** A mailbox of the source under one UIDVALIDITY, by which faults at its messages are counted. */
export function sourcePlace(reader: MailReader, path: string, uidValidity: bigint): Place {
  return { account: 'source', reader, path, uidValidity, name: `source ${uidValidity} ${path}` };
}

/** The same for the destination. */
export function destinationPlace(reader: MailReader, path: string, uidValidity: bigint): Place {
  return { account: 'destination', reader, path, uidValidity, name: `destination ${uidValidity} ${path}` };
}

/** The name under which a run counts the faults at a message. */
export function messageName({ name }: Pick<Place, 'name'>, uid: number): string {
  return `${name} ${uid}`;
}

/** The name under which a run counts how often the destination failed at the append of a message of the source. */
export function appendName(place: Pick<Place, 'name'>, uid: number): string {
  return `append ${messageName(place, uid)}`;
}

/** The name under which a run counts how often the destination refused a message, alone or among others. */
export function refusalName(place: Pick<Place, 'name'>, uid: number): string {
  return `refused ${messageName(place, uid)}`;
}

/** The name under which a run counts those messages of a mailbox at which a server fails each time. */
export function messagesOf(mailbox: string): string {
  return `messages of ${mailbox}`;
}

/** Counts a break at a message: a dropped connection, or a failure of the server. @param path of its mailbox */
export function noteBreak(name: string, path: string, run: Faults): void {
  const times = run.noteFault(name);
  if (times === BREAKS_TOGETHER) run.noteFault(messagesOf(path));
  // This counts as progress, so that what comes after it gets as many tries.
  if (times === BREAKS_TOGETHER || times === BREAKS_TOGETHER + BREAKS_ALONE) run.looked();
}

/** Notes that a message has passed, so that earlier failures did not concern the whole account. */
export function notePassed(passing: Passing, run: Faults): void {
  run.forgetFaults(goodbyesTo(passing));
  run.forgetFaults(troubledIn(passing));
  run.forgetFaults(failedAnotherOf(passing));
  run.noteFault(passedBy(passing));
}

/**
 * Counts a break at a message, or at each of several in one command. A BYE that may concern the account does not count.
 * @param names of the messages, as a run counts them
 * @param isAskedAgain whether what is left out is asked for again, for a day if need be: then a BYE at a message that
 *   is asked for alone counts, too, even if no others have passed meanwhile
 */
export function noteBreakOff(
  error: unknown,
  names: readonly string[],
  { passing, path, isAskedAgain }: { readonly passing: Passing; readonly path: string; readonly isAskedAgain: boolean },
  run: Faults,
): void {
  if (isBreak(error)) for (const name of names) noteBreak(name, path, run);
  if (error instanceof MailError && isInTrouble(error) && isAskedAgain)
    for (const name of names)
      if (!isAmongOthers(name, passing, run) && run.faults(name) === BREAKS_TOGETHER + BREAKS_ALONE)
        if (run.noteFault(troubledIn(passing)) === TROUBLED_FROM) noteLeftByTrouble(run);
  if (!isFarewell(error) || run.noteFault(goodbyesTo(passing)) > GOODBYES_AT_MOST) return;
  for (const name of names) {
    const isItsOwn = isAmongOthers(name, passing, run);
    if (isItsOwn || isAskedAgain || run.faults(name) < BREAKS_TOGETHER) noteBreak(name, path, run);
    if (isAskedAgain && !isItsOwn && run.faults(name) > BREAKS_TOGETHER) run.noteFault(leftBy(passing));
  }
}

/**
 * Whether messages may have been left out for BYEs, or for SERVERBUG or UNAVAILABLE, that concerned the account: `all`
 * if only so much passes in a day, so that the BYEs may have been to all of the rest. A later run does not know which
 * BYEs an earlier one had found to concern a single message.
 * @param aDay how many octets pass in a day, if a provider has such a limit
 */
export function leftByGoodbyes(
  run: Pick<Faults, 'faults'>,
  aDay: Readonly<Partial<Record<Passing, number | undefined>>>,
): 'all' | 'goodbyes' | null {
  const left = PASSING.filter((passing) => run.faults(leftBy(passing)) > 0);
  if (left.some((passing) => aDay[passing] !== undefined)) return 'all';
  return left.length > 0 || run.faults(LEFT_BY_TROUBLE) > 0 ? 'goodbyes' : null;
}

/**
 * Whether a server has failed at messages, and none has passed since, so that all of the account may be concerned: nor
 * has it failed at a message that had passed before, which tells no more than that.
 */
export function mayBeOfAll(account: Account, run: Pick<Faults, 'faults'>): boolean {
  if (run.faults(failedAnotherOf(account)) > 0) return false;
  return isSentAway(account, run) || run.faults(troubledIn(account)) > 0;
}

/**
 * Whether so many BYEs have come since the last message passed that they may be taken for the account's. A few come
 * from servers that say it after so many commands.
 */
export function isSentAwayOften(passing: Passing, run: Pick<Faults, 'faults'>): boolean {
  return run.faults(goodbyesTo(passing)) > GOODBYES_AT_MOST / 2;
}

/** Notes that the connection has ended at a message that had passed before. */
export function noteEndAtAnother(error: unknown, passing: Passing, run: Faults): void {
  run.noteFault(failedAnotherOf(passing));
  if (isFarewell(error)) run.noteFault(goodbyesTo(passing));
}

/** Whether a BYE has come since the last message passed. */
export function isSentAway(passing: Passing, run: Pick<Faults, 'faults'>): boolean {
  return run.faults(goodbyesTo(passing)) > 0;
}

/**
 * Whether others have passed since the previous BYE at this message, at least once since it is asked for alone: then
 * the BYE concerns this message.
 */
function isAmongOthers(name: string, passing: Passing, run: Faults): boolean {
  const others = `${name} after ${run.faults(passedBy(passing))} others`;
  const sure = `${name} among others`;
  if (run.noteFault(others) === 1 && run.faults(name) >= BREAKS_TOGETHER) run.noteFault(sure);
  return run.faults(sure) > 0;
}

function goodbyesTo(passing: Passing): string {
  return `goodbyes: ${passing}`;
}

/** The name under which a run counts messages left out for SERVERBUG or UNAVAILABLE since the last one that passed. */
function troubledIn(passing: Passing): string {
  return `troubled in ${passing}`;
}

/** Notes that SERVERBUG or UNAVAILABLE, for which a run leaves something, may concern the account rather than that. */
export function noteLeftByTrouble(run: Pick<Faults, 'noteFault'>): void {
  run.noteFault(LEFT_BY_TROUBLE);
}

/** The name under which a run counts BYEs at messages it may leave out, though they may have concerned the account. */
function leftBy(passing: Passing): string {
  return `left by goodbyes: ${passing}`;
}

function failedAnotherOf(passing: Passing): string {
  return `failed at one that had passed: ${passing}`;
}

function passedBy(passing: Passing): string {
  return `passed: ${passing}`;
}

/** How often each thing went wrong, by a name for it. */
export function openFaults(): Pick<Run, 'faults' | 'noteFault' | 'forgetFaults'> {
  const counts = new Map<string, number>();
  const faults = (name: string) => counts.get(name) ?? 0;
  const noteFault = (name: string) => {
    counts.set(name, faults(name) + 1);
    return faults(name);
  };
  const forgetFaults = (name: string) => {
    counts.delete(name);
  };
  return { faults, noteFault, forgetFaults };
}

/** Whether a message is still asked for in this run: connections have not broken off at it too often. */
export function isReadable(place: Pick<Place, 'name'>, uid: number, run: Faults): boolean {
  return run.faults(messageName(place, uid)) < BREAKS_TOGETHER + BREAKS_ALONE;
}

/**
 * Messages that may be asked for together, and those that must be asked for one by one. Those that are not asked for
 * any more are in neither.
 */
export function readableOf(
  place: Pick<Place, 'name'>,
  uids: readonly number[],
  run: Faults,
): { readonly together: readonly number[]; readonly alone: readonly number[] } {
  const readable = uids.filter((uid) => isReadable(place, uid, run));
  const isSuspect = (uid: number) => run.faults(messageName(place, uid)) >= BREAKS_TOGETHER;
  return { together: readable.filter((uid) => !isSuspect(uid)), alone: readable.filter(isSuspect) };
}

/**
 * Fetches messages, except those at which connections break off each time.
 * @param noting as for {@link notingBreaks}
 */
export async function* fetchReadable(
  place: Place,
  uids: readonly number[],
  run: Faults,
  noting: Partial<Noting> = {},
): AsyncIterable<Fetched> {
  const { together, alone } = readableOf(place, uids, run);
  for (const asked of [together, ...alone.map((uid) => [uid])])
    if (asked.length > 0) yield* notingBreaks(place.reader.fetch(place.path, asked), asked, place, run, noting);
}

type Noting = { readonly onBroken: () => void; readonly isAskedAgain: boolean };

/**
 * Passes on fetched messages, and notes where the connection breaks off: at the message being received, or else at the
 * lowest UID still missing, as servers answer by rising UID. A break within a message counts only if it is at the same
 * octet as before, or frequent: a poor connection may break anywhere.
 * @param onBroken called at a break within a message: the reader of its octets gets the error, this function does not
 * @param isAskedAgain as for {@link noteBreakOff}
 */
export async function* notingBreaks(
  messages: AsyncIterable<Fetched>,
  uids: readonly number[],
  place: Pick<Place, 'account' | 'name' | 'path'>,
  run: Faults,
  { onBroken = () => {}, isAskedAgain = false }: Partial<Noting> = {},
): AsyncIterable<Fetched> {
  const waiting = new Set(uids.toSorted((a, b) => a - b));
  const note = (uid: number) => noteBreak(messageName(place, uid), place.path, run);
  const noteWithin = (uid: number, octets: number) => {
    const name = messageName(place, uid);
    const times = run.noteFault(`${name} within`);
    // One more try is needed to see whether it breaks at the same octet.
    if (times === 1) run.looked();
    if (run.noteFault(`${name} at ${octets}`) > 1 || times > BREAKS_WITHIN) note(uid);
  };
  let isWithin = false;
  try {
    for await (const message of messages) {
      const { uid } = message;
      waiting.delete(uid);
      let size = 0;
      const octets = observed(message.octets, {
        chunk: ({ length }) => {
          size += length;
        },
        whole: () => {
          run.forgetFaults(messageName(place, uid));
          notePassed(place.account, run);
        },
        broken: (error) => {
          isWithin = true;
          onBroken();
          if (isBreak(error)) noteWithin(uid, size);
        },
      });
      yield { ...message, octets };
    }
  } catch (error) {
    const [next] = waiting;
    const how = { passing: place.account, path: place.path, isAskedAgain };
    if (!isWithin && next !== undefined) noteBreakOff(error, [messageName(place, next)], how, run);
    throw error;
  }
  // Asked for alone, and not sent: some servers answer NO, and drop the connection after that.
  const [last] = waiting;
  if (last !== undefined && uids.length === 1) note(last);
}
