import { isGoodbye, isRefusal, MailError } from '../mail-error.ts';
import type { Fetched } from '../streams.ts';
import { ArrivingOctets, Arrivals } from './arrivals.ts';
import { bounded, type Listeners } from './commands-under-way.ts';
import { type FetchItems, FetchReader } from './fetch-response.ts';
import type { ImapConnection } from './imap-connection.ts';
import { type LiteralSink, NOBODY, type Part } from './response-parser.ts';
import { setsOf } from './uid-sets.ts';

/** The items that a listing asks for. */
export const DESCRIPTION = 'UID RFC822.SIZE INTERNALDATE FLAGS';
const SHORT_DESCRIPTION = 'UID INTERNALDATE FLAGS';
/** What a message without its octets takes in memory, in octets. */
const MESSAGE_WEIGHT = 512;
/**
 * How much of a response may precede a message's octets, in parts and octets: it is parsed for each literal of the
 * response.
 */
const [PIECES_BEFORE, OCTETS_BEFORE] = [9, 16 * 1024];
/** How many messages are asked for at a time, if each has commands of its own. */
const SINGLES_AT_ONCE = 20;

type Arrival = { readonly message: Fetched; readonly octets: ArrivingOctets };

/** What a connection has learnt about how its server answers. */
export type FetchHabits = {
  /** It sends a message's octets before its UID, flags or date: then these are asked for by a separate command. */
  bodyFirst: boolean;
};

/**
 * One fetch of whole messages. If its command is refused, each message that did not come is asked for alone, and left
 * out if that fails, too. The command is sent when the last message of the fetch before begins to arrive: a server may
 * interleave the answers to two commands (Dovecot does), and unread messages of the second would then block the rest of
 * the first.
 */
export class Fetching implements AsyncIterable<Fetched>, AsyncIterator<Fetched> {
  readonly #connection: ImapConnection;
  readonly #reader: FetchReader;
  readonly #habits: FetchHabits;
  /** UIDs of messages that have not come yet. */
  readonly #wanted: Set<number>;
  readonly #arrivals: Arrivals<Arrival>;
  readonly #offEnding: () => void;
  /** The message whose octets are arriving. */
  #coming: ArrivingOctets | undefined;
  #given: ArrivingOctets | undefined;
  /** Its command, or one of them, was answered NO. */
  #refused = false;
  readonly #lastBegun = Promise.withResolvers<void>();

  /** @param open opens the mailbox, its command being sent at the call. */
  constructor(
    connection: ImapConnection,
    { reader, habits }: { readonly reader: FetchReader; readonly habits: FetchHabits },
    uids: readonly number[],
    { open, before }: { readonly open: () => Promise<unknown>; readonly before: Fetching | undefined },
  ) {
    this.#connection = connection;
    this.#reader = reader;
    this.#habits = habits;
    this.#wanted = new Set(uids);
    this.#arrivals = new Arrivals(connection);
    this.#offEnding = connection.whenEnded((error) => {
      // A server that answers NO and then BYE can't deliver a message.
      const isOfMessage = this.#refused && isGoodbye(error);
      const broken = isOfMessage ? new MailError('lost', 'The mail server refused a message and hung up.') : error;
      this.#coming?.fail(broken);
      this.#arrivals.breakOff(broken);
    });
    this.#run(open, before).then(
      () => this.#finish(),
      (error: unknown) => this.#finish(error),
    );
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Fetched, undefined>> {
    this.#given?.skip();
    this.#given = undefined;
    const [arrival] = await this.#arrivals.take(1);
    if (arrival === undefined) return { done: true, value: undefined };
    this.#given = arrival.octets;
    return { done: false, value: arrival.message };
  }

  /** Closes the connection of a fetch that is under way, because FETCH can't be cancelled. */
  return(): Promise<IteratorResult<Fetched, undefined>> {
    this.#given?.skip();
    for (const { octets } of this.#arrivals.drop()) octets.skip();
    if (!this.#arrivals.finished) this.#connection.destroy();
    return Promise.resolve({ done: true, value: undefined });
  }

  #finish(error?: unknown): void {
    this.#lastBegun.resolve();
    this.#offEnding();
    // What nobody reads any more must not hold back what comes next on the connection.
    for (const { octets } of this.#arrivals.finish(error)) octets.skip();
  }

  async #run(open: () => Promise<unknown>, before: Fetching | undefined): Promise<void> {
    if (before !== undefined && !before.#arrivals.finished) await before.#lastBegun.promise;
    const opened = open();
    opened.catch(() => {});
    const together = this.#habits.bodyFirst ? 'alone' : this.#askTogether();
    await opened;
    if ((await together) === 'done') return;
    const uids = [...this.#wanted];
    for (let from = 0; from < uids.length; from += SINGLES_AT_ONCE)
      await Promise.all(uids.slice(from, from + SINGLES_AT_ONCE).map((uid) => this.#askAlone(uid)));
  }

  /** @returns `alone` if those that did not come have to be asked for one by one */
  #askTogether(): Promise<'done' | 'alone'> {
    let bodyFirst = false;
    const listeners: Listeners = {
      untagged: (parts, line) => this.#takeResponse(parts, line),
      literal: (parts, size) => {
        const before = this.#bodyAt(parts);
        if (before === undefined) return undefined;
        const { uid } = before;
        if (uid !== undefined && !this.#wanted.has(uid)) return undefined;
        if (uid !== undefined && isDescribed(before)) return this.#arrive(uid, before, size);
        bodyFirst = true;
        this.#habits.bodyFirst = true;
        return NOBODY;
      },
    };
    const commands = [...setsOf([...this.#wanted])].map(({ set }) =>
      this.#connection.command(`UID FETCH ${set} (${DESCRIPTION} BODY.PEEK[])`, listeners),
    );
    const one = this.#wanted.size === 1;
    const answered = Promise.all(commands).then(
      () => (bodyFirst ? ('alone' as const) : ('done' as const)),
      (error: unknown) => {
        if (!isRefusal(error)) throw error;
        this.#refused = true;
        return one ? ('done' as const) : ('alone' as const);
      },
    );
    answered.catch(() => {});
    return answered;
  }

  /**
   * A message that does not come is asked for once more, without its size: the refusal may have been momentary, or
   * because the size is not known.
   */
  async #askAlone(uid: number): Promise<void> {
    await this.#askOnce(uid, DESCRIPTION);
    if (this.#wanted.has(uid)) await this.#askOnce(uid, SHORT_DESCRIPTION);
  }

  async #askOnce(uid: number, asked: string): Promise<void> {
    let described: FetchItems | undefined;
    const description = this.#connection.command(`UID FETCH ${uid} (${asked})`, {
      untagged: bounded((parts, line) => {
        if (FetchReader.numberOf(line) < 0) return false;
        const items = this.#reader.read(parts);
        if (items.uid !== uid) return false;
        // Flags that another client changes come with a UID, too, before or after the description.
        described = { ...described, ...items };
        return true;
      }),
    });
    const body = this.#connection.command(`UID FETCH ${uid} (BODY.PEEK[])`, {
      untagged: (parts, line) => this.#takeResponse(parts, line, uid, described),
      literal: (parts, size) => {
        const before = this.#bodyAt(parts);
        if (before === undefined || (before.uid ?? aloneAs(uid, before, described)) !== uid) return undefined;
        // Without its description, a message would lose its flags and date.
        if (!this.#wanted.has(uid) || (described === undefined && !isDescribed(before))) return NOBODY;
        return this.#arrive(uid, described ?? before, size);
      },
    });
    const answers = await Promise.allSettled([description, body]);
    for (const answer of answers) {
      if (answer.status === 'fulfilled') continue;
      if (!isRefusal(answer.reason)) throw answer.reason;
    }
  }

  /** The items before the octets, if the literal that begins is a whole message. */
  #bodyAt(parts: readonly Part[]): FetchItems | undefined {
    const last = parts.at(-1);
    if (typeof last !== 'string' || !endsWithBody(last)) return undefined;
    if (typeof parts[0] !== 'string' || FetchReader.numberOf(parts[0]) < 0) return undefined;
    if (parts.length > PIECES_BEFORE) return undefined;
    if (parts.reduce((octets, part) => octets + (part?.length ?? 0), 0) > OCTETS_BEFORE) return undefined;
    const { items, open } = this.#reader.readBefore(parts);
    return open === 'BODY[]' || open === 'RFC822' ? items : undefined;
  }

  #takeResponse(parts: readonly Part[], line: string, alone?: number, described?: FetchItems): boolean {
    if (FetchReader.numberOf(line) < 0) return false;
    const coming = this.#coming;
    // Nothing follows the octets: everything else was read when they began.
    if (coming !== undefined && parts.length === 3 && parts[1] === null && parts[2] === ')') {
      this.#coming = undefined;
      this.#finishIfWhole();
      return true;
    }
    const items = this.#reader.read(parts);
    this.#coming = undefined;
    const uid = items.uid ?? aloneAs(alone, items, described);
    if (items.body === undefined || uid === undefined || !this.#wanted.has(uid)) {
      this.#finishIfWhole();
      return coming !== undefined;
    }
    // NIL instead of the octets: the server does not deliver them.
    if (items.body === null) this.#wanted.delete(uid);
    else if (alone === undefined || described !== undefined || isDescribed(items)) {
      const sink = this.#arrive(uid, described ?? items, items.body.length);
      this.#coming = undefined;
      sink.octets(items.body);
      sink.end();
    }
    this.#finishIfWhole();
    return true;
  }

  /** Does not wait for the tagged answer: messages of the next fetch may come before it. */
  #finishIfWhole(): void {
    if (this.#wanted.size === 0) this.#finish();
  }

  #arrive(uid: number, items: FetchItems, size: number): LiteralSink {
    // Some servers send messages though they refused to open the mailbox: these are of the one before.
    if (this.#arrivals.finished || !this.#connection.hasOpen) return NOBODY;
    this.#wanted.delete(uid);
    if (this.#wanted.size === 0) this.#lastBegun.resolve();
    // Some servers send an empty literal if they can't deliver a message (Yahoo at times).
    if (size === 0 && (items.size ?? 0) > 0) return NOBODY;
    const octets = new ArrivingOctets(this.#connection);
    this.#connection.incoming.expect(size);
    this.#coming = octets;
    const { flags = [], internalDate = new Date(Number.NaN) } = items;
    this.#arrivals.push({ message: { uid, size, flags, internalDate, octets }, octets }, MESSAGE_WEIGHT);
    return octets;
  }
}

/** The UID of a response without one. Its sequence number tells if it belongs to another command, or comes again. */
function aloneAs(uid: number | undefined, { number }: FetchItems, described: FetchItems | undefined) {
  return described === undefined || described.number === number ? uid : undefined;
}

function isDescribed({ flags, internalDate }: FetchItems): boolean {
  return flags !== undefined && internalDate !== undefined;
}

function endsWithBody(text: string): boolean {
  const end = text.slice(-8).trimEnd().toUpperCase();
  return end.endsWith('BODY[]') || end.endsWith('RFC822');
}
