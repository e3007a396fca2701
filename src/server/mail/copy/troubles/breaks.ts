import { isBreak, isFarewell, isInTrouble, MailError } from '../../imap/mail-error.ts';
import { observed } from '../../imap/observed-octets.ts';
import type { Fetched, MailReader } from '../../imap/streams.ts';
import type { Run } from '../run/run.ts';
import type { Account } from '../run/sessions.ts';

/**
 * Some servers hang up at the same message each time. After this many breaks among other messages it is asked for
 * alone, after all others; after this many alone it is left out.
 */
export const [BREAKS_TOGETHER, BREAKS_ALONE] = [2, 2];

/** A line may break inside one message at a different octet each time; from this many breaks on, each counts. */
const BREAKS_WITHIN = 4;

/** So many goodbyes in a row, with nothing that passes between them, are to the account (Gmail, for a day). */
const GOODBYES_AT_MOST = 20;
/** Where so many messages are left by trouble, with nothing that passes between them, it may be the server's for a while. */
const TROUBLED_FROM = 3;
const LEFT_BY_TROUBLE = 'left by trouble';
export type Faults = Pick<Run, 'faults' | 'noteFault' | 'forgetFaults' | 'looked'>;

/** A mailbox that has been opened. `name` distinguishes it, under its UIDVALIDITY, from all others of a transfer. */
export type Place = {
  readonly account: Account;
  readonly reader: MailReader;
  readonly path: string;
  readonly name: string;
};

/** What passes: messages that an account hands out, or that the destination takes. */
const PASSING = ['source', 'destination', 'appends'] as const satisfies readonly (Account | 'appends')[];
type Passing = (typeof PASSING)[number];

/** A mailbox of the source as one numbering of it, by which faults at its messages are counted. */
export function sourcePlace(reader: MailReader, path: string, uidValidity: bigint): Place {
  return { account: 'source', reader, path, name: `source ${uidValidity} ${path}` };
}

/** The same of the destination. */
export function destinationPlace(reader: MailReader, path: string, uidValidity: bigint): Place {
  return { account: 'destination', reader, path, name: `destination ${uidValidity} ${path}` };
}

/** The name under which a run counts the faults at a message. */
export function messageName({ name }: Pick<Place, 'name'>, uid: number): string {
  return `${name} ${uid}`;
}

/** The name under which a run counts how often the destination broke off at an append of a message of the source. */
export function appendName(place: Pick<Place, 'name'>, uid: number): string {
  return `append ${messageName(place, uid)}`;
}

/** The name under which a run counts how often the destination refused a message among others. */
export function refusalName(place: Pick<Place, 'name'>, uid: number): string {
  return `refused ${messageName(place, uid)}`;
}

/** The name under which a run counts those messages of a mailbox at which a server breaks off each time. */
export function messagesOf(mailbox: string): string {
  return `messages of ${mailbox}`;
}

/** Counts that a connection, or what a server does, broke off at a message. @param path of its mailbox */
export function noteBreak(name: string, path: string, run: Faults): void {
  const times = run.noteFault(name);
  if (times === BREAKS_TOGETHER) run.noteFault(messagesOf(path));
  // What comes after it is tried as often again.
  if (times === BREAKS_TOGETHER || times === BREAKS_TOGETHER + BREAKS_ALONE) run.looked();
}

/** Notes that a message has passed, so that goodbyes before it were not to the account. */
export function notePassed(passing: Passing, run: Faults): void {
  run.forgetFaults(goodbyesTo(passing));
  run.forgetFaults(troubledIn(passing));
  run.noteFault(passedBy(passing));
}

/**
 * Counts that a connection, or what a server does, broke off at a message, or at one of several in one command. Of goodbyes
 * none counts that may be to the account.
 * @param names of the messages, as a run counts them
 * @param isAskedAgain what is left is asked for again, for a day if need be: then a goodbye to a message that is asked for
 *   alone counts, too, where no others have passed meanwhile
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
 * Whether messages may have been left by goodbyes that were to the account, or by its trouble: `all` where
 * only so much of the same passes in a day, so that goodbyes may have been to all of the rest. A later run does not know what
 * an earlier one had proven to be a message's own.
 * @param aDay how many octets pass in a day, where a provider has such a limit
 */
export function leftByGoodbyes(
  run: Pick<Faults, 'faults'>,
  aDay: Readonly<Partial<Record<Passing, number | undefined>>>,
): 'all' | 'goodbyes' | null {
  const left = PASSING.filter((passing) => run.faults(leftBy(passing)) > 0);
  if (left.some((passing) => aDay[passing] !== undefined)) return 'all';
  return left.length > 0 || run.faults(LEFT_BY_TROUBLE) > 0 ? 'goodbyes' : null;
}

/** Whether the last thing that an account has said of these is a goodbye. */
export function isSentAway(passing: Passing, run: Pick<Faults, 'faults'>): boolean {
  return run.faults(goodbyesTo(passing)) > 0;
}

/** Whether others have passed since the goodbye before to this message, at least once since it is asked for alone. */
function isAmongOthers(name: string, passing: Passing, run: Faults): boolean {
  const others = `${name} after ${run.faults(passedBy(passing))} others`;
  const sure = `${name} among others`;
  if (run.noteFault(others) === 1 && run.faults(name) >= BREAKS_TOGETHER) run.noteFault(sure);
  return run.faults(sure) > 0;
}

function goodbyesTo(passing: Passing): string {
  return `goodbyes: ${passing}`;
}

/** By this name a run counts messages that it left by trouble since the last one that passed. */
function troubledIn(passing: Passing): string {
  return `troubled in ${passing}`;
}

/** Notes that what a run leaves may be left by an account's trouble, not the messages' or the mailbox's own. */
export function noteLeftByTrouble(run: Pick<Faults, 'noteFault'>): void {
  run.noteFault(LEFT_BY_TROUBLE);
}

/** By this name a run counts what it may have left by goodbyes that were to the account. */
function leftBy(passing: Passing): string {
  return `left by goodbyes: ${passing}`;
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

/** Messages of a mailbox, without those at which connections break off each time. @param noting as for {@link notingBreaks} */
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
 * Passes on messages that were asked for, and notes where the connection breaks off: at the one that was coming, or at
 * the first that has not come; servers answer by rising UIDs. Within a message it counts when it is at the same octet as
 * before, or often: a line may break anywhere.
 * @param onBroken called when it breaks off within a message, which whoever reads its octets hears of, and we do not
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
    // It takes one time more to know the place.
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
  // Some say NO to one that is asked for alone, and hang up after that.
  const [last] = waiting;
  if (last !== undefined && uids.length === 1) note(last);
}
