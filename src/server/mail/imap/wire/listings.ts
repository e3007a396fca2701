import { isRefusal, MailError } from '../mail-error.ts';
import type { Listed, Opened, OpenedListing } from '../streams.ts';
import { Arrivals } from './arrivals.ts';
import type { Listeners } from './commands-under-way.ts';
import { Descriptions } from './descriptions.ts';
import { type FetchItems, FetchReader, HIGHEST_UID } from './fetch-response.ts';
import { DESCRIPTION } from './fetching.ts';
import type { ImapConnection } from './imap-connection.ts';
import type { Opening } from './opening.ts';
import { setsOf } from './uid-sets.ts';

const PAGE = 1000;
/** How many messages one command of a listing asks for; the next command is already under way meanwhile. */
const LISTING_RANGE = 5000;
/**
 * The most messages of a mailbox that are listed whole, or found. Of five million that a hostile server counted and
 * found, a worker had 9 s in which nobody else had a turn, and 750 MB.
 */
export const LISTING_LIMIT = 1_000_000;
/** How many answers a listing may have: some servers describe a message by several. */
const ROWS_LIMIT = 5 * LISTING_LIMIT;
/** What a row of a listing, and each of its flags, takes in memory, in octets. */
const [ROW_WEIGHT, FLAG_WEIGHT] = [200, 20];

/** Lists the mailboxes of a connection one at a time, or several ahead of their turn. */
export class Listings {
  readonly #connection: ImapConnection;
  readonly #opening: Opening;
  readonly #reader: FetchReader;
  /** Listings that were asked for ahead of their turn, in its order. */
  #ahead: Ahead[] = [];

  constructor(connection: ImapConnection, opening: Opening, reader: FetchReader) {
    this.#connection = connection;
    this.#opening = opening;
    this.#reader = reader;
  }

  openAndList(path: string): OpenedListing {
    const [ahead] = this.#ahead;
    if (ahead?.path === path) {
      this.#ahead.shift();
      return ahead.listing;
    }
    this.letGo();
    if (this.#most === Infinity) return this.#ask(path).listing;
    // The server limits how many messages a command may name, so the listing waits until their number is known.
    const opened = this.#opening.open(path);
    opened.catch(() => {});
    return { opened, pages: this.list(path) };
  }

  listAhead(paths: readonly string[]): void {
    this.letGo();
    if (this.#most === Infinity) this.#ahead = paths.map((path) => this.#ask(path));
  }

  /** Drops the listings that were asked for ahead and that nobody will read: they would hold back the next answer. */
  letGo(): void {
    for (const { letGo } of this.#ahead.splice(0)) letGo();
  }

  /** Opens a mailbox and lists all of it, in one round trip. */
  #ask(path: string): Ahead {
    const opened = this.#opening.open(path);
    const numbers = new SeenNumbers();
    let expunged: number | undefined;
    let hasMoved = false;
    const first = ({ number, uid }: FetchItems) => {
      expunged ??= this.#connection.expunged;
      hasMoved ||= this.#connection.expunged !== expunged;
      return uid !== undefined && numbers.see(number);
    };
    // A message that is listed twice must not be taken for one of the mailbox that is listed next.
    const asked = this.#askFor([`UID FETCH 1:* (${DESCRIPTION})`], first, { takesAll: true });
    opened.catch((error: unknown) => asked.finish(error));
    const pages = async function* (this: Listings) {
      const { exists } = await opened;
      if (exists > LISTING_LIMIT) {
        const error = this.#tooMany();
        asked.finish(error);
        throw error;
      }
      try {
        yield* this.#pagesOf(asked);
      } catch (error) {
        // By RFC 9051 §6.4.9 there is nothing to refuse in an empty mailbox; some servers do so all the same.
        if (exists > 0 || !isRefusal(error)) throw error;
        return;
      }
      if (hasMoved) throw hasGone();
      // If another mailbox is open by now, missing messages are left to the next listing.
      if (this.#opening.isLast(path) && this.#ahead.length === 0)
        yield* this.#missingPages(exists, (number) => numbers.has(number), expunged, first);
    };
    const letGo = () => {
      asked.finish();
      asked.drop();
    };
    return { path, listing: { opened, pages: pages.call(this) }, letGo };
  }

  /**
   * Lists the messages that did not come. Sequence numbers must not change during FETCH (RFC 9051 §7.5.1); if they do,
   * a message may have been skipped.
   */
  async *#missingPages(
    exists: number,
    isSeen: (number: number) => boolean,
    expunged: number | undefined,
    wanted: (items: FetchItems) => boolean,
  ): AsyncGenerator<readonly Listed[]> {
    const missing: number[] = [];
    for (let number = 1; number <= exists; number++) if (!isSeen(number)) missing.push(number);
    yield* this.#rows(this.#commands('FETCH', missing), wanted);
    if (expunged !== undefined && this.#connection.expunged !== expunged) throw hasGone();
  }

  async *list(path: string, fromUid = 1): AsyncGenerator<readonly Listed[]> {
    const { exists } = await this.#ensure(path);
    if (exists === 0 || fromUid > HIGHEST_UID) return;
    // `n:*` also names the last message if n is beyond it (RFC 9051 §9, seq-range).
    if (fromUid > 1 && this.#most === Infinity)
      yield* this.#rows([`UID FETCH ${fromUid}:* (${DESCRIPTION})`], ({ uid = 0 }) => uid >= fromUid);
    else if (exists > LISTING_LIMIT) throw this.#tooMany();
    else yield* this.#listAll(exists, fromUid);
  }

  /** How many messages a command may name (RFC 9738): Yahoo takes 1,000. */
  get #most(): number {
    const limit = [...this.#connection.capabilities].find((name) => name.startsWith('MESSAGELIMIT='));
    const most = Number(limit?.slice(13));
    return Number.isSafeInteger(most) && most > 0 ? most : Infinity;
  }

  #tooMany(): MailError {
    const words = `The mailbox has more than ${LISTING_LIMIT} messages, which can't be listed.`;
    return new MailError('refused', words).of(this.#connection.role);
  }

  /** Lists by sequence numbers, so that messages that the server leaves out are noticed, and asked for again. */
  async *#listAll(exists: number, fromUid: number): AsyncGenerator<readonly Listed[]> {
    const most = Math.min(LISTING_RANGE, this.#most);
    const expunged = this.#connection.expunged;
    const seen = new Uint8Array(exists + 1);
    const first = ({ number, uid }: FetchItems) => {
      if (uid === undefined || number < 1 || number > exists || seen[number] === 1) return false;
      seen[number] = 1;
      return uid >= fromUid;
    };
    yield* this.#rows(rangesOf(exists, most), first);
    yield* this.#missingPages(exists, (number) => seen[number] === 1, expunged, first);
  }

  async *look(path: string, uids: readonly number[]): AsyncGenerator<readonly Listed[]> {
    if (uids.length === 0) return;
    await this.#ensure(path, uids);
    const wanted = new Set(uids);
    yield* this.#rows(this.#commands('UID FETCH', uids), ({ uid = 0 }) => wanted.delete(uid));
  }

  *#commands(verb: 'FETCH' | 'UID FETCH', numbers: readonly number[]): Generator<string> {
    const most = Math.min(numbers.length, this.#most);
    for (let from = 0; from < numbers.length; from += most)
      for (const { set } of setsOf(numbers.slice(from, from + most))) yield `${verb} ${set} (${DESCRIPTION})`;
  }

  async *#rows(commands: Iterable<string>, wanted: (items: FetchItems) => boolean): AsyncGenerator<readonly Listed[]> {
    yield* this.#pagesOf(this.#askFor(commands, wanted));
  }

  /**
   * @param commands generated as they are sent, because there may be as many as messages
   * @param options.takesAll whether rows that are not wanted are taken all the same, because they are no other
   * command's
   */
  #askFor(
    commands: Iterable<string>,
    wanted: (items: FetchItems) => boolean,
    { takesAll = false } = {},
  ): Arrivals<Listed> {
    const connection = this.#connection;
    const arrivals = new Arrivals<Listed>(connection);
    const descriptions = new Descriptions();
    let rows = 0;
    const count = () => {
      if (++rows > ROWS_LIMIT) throw new MailError('lost', 'The mail server lists messages without end.');
    };
    const push = (items: FetchItems | undefined) => {
      if (items?.uid === undefined || arrivals.finished) return;
      const { uid, size = 0, flags = [], internalDate = new Date(Number.NaN) } = items;
      arrivals.push({ uid, size, flags, internalDate }, ROW_WEIGHT + FLAG_WEIGHT * flags.length);
    };
    const untagged: Listeners['untagged'] = (parts, line) => {
      if (FetchReader.numberOf(line) < 0) return false;
      const told = this.#reader.read(parts);
      if (told.uid === undefined) return false;
      if (descriptions.addsTo(told)) {
        count();
        return true;
      }
      const items = descriptions.of(told);
      if (items === undefined) return false;
      const isOver = arrivals.finished;
      const isWanted = !isOver && wanted(items);
      if (!isWanted && !isOver && !takesAll) return false;
      count();
      if (isWanted) push(descriptions.follow(items));
      return true;
    };
    const ask = async () => {
      let before: Promise<unknown> = Promise.resolve();
      for (const command of commands) {
        const asked = connection.command(command, { untagged });
        asked.catch(() => {});
        await before;
        before = asked;
      }
      await before;
      push(descriptions.follow());
    };
    const off = connection.whenEnded((error) => arrivals.finish(error));
    ask()
      .then(
        () => arrivals.finish(),
        (error: unknown) => arrivals.finish(error),
      )
      .finally(off);
    return arrivals;
  }

  async *#pagesOf(arrivals: Arrivals<Listed>): AsyncGenerator<readonly Listed[]> {
    try {
      for (let page; (page = await arrivals.take(PAGE)).length > 0;) yield page;
    } finally {
      // A listing can't be cancelled.
      if (!arrivals.finished) this.#connection.destroy();
    }
  }

  #ensure(path: string, uids?: readonly number[]): Promise<Opened> {
    this.letGo();
    return this.#opening.ensure(path, uids);
  }
}

/** A listing that is under way; `letGo` if nobody is going to read it. */
type Ahead = { readonly path: string; readonly listing: OpenedListing; readonly letGo: () => void };

/** Commands that each ask for so many messages at most. */
function* rangesOf(exists: number, most: number): Generator<string> {
  for (let from = 1; from <= exists; from += most)
    yield `FETCH ${from}:${Math.min(exists, from + most - 1)} (${DESCRIPTION})`;
}

function hasGone(): MailError {
  return new MailError('lost', 'Messages went from the mailbox while it was listed.');
}

/** A set of sequence numbers up to `LISTING_LIMIT`, which grows because it is not known yet how many there are. */
class SeenNumbers {
  #seen = new Uint8Array(1024);

  /** @returns whether it is a number that was not seen before */
  see(number: number): boolean {
    if (number < 1 || number > LISTING_LIMIT || this.has(number)) return false;
    if (number >= this.#seen.length) {
      const larger = new Uint8Array(Math.max(number + 1, this.#seen.length * 2));
      larger.set(this.#seen);
      this.#seen = larger;
    }
    this.#seen[number] = 1;
    return true;
  }

  has(number: number): boolean {
    return this.#seen[number] === 1;
  }
}
