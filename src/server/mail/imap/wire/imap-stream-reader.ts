import { MailError } from '../mail-error.ts';
import type { Mailbox } from '../mailbox.ts';
import type { Fetched, Listed, ListOptions, MailReader, Opened, OpenedListing } from '../streams.ts';
import { FetchReader } from './fetch-response.ts';
import { Fetching } from './fetching.ts';
import { fetchHeaders } from './headers.ts';
import type { ImapConnection } from './imap-connection.ts';
import { LISTING_LIMIT, Listings } from './listings.ts';
import { AccountMailboxes } from './mailboxes.ts';
import { askStatus, Opening, type Verb } from './opening.ts';
import { foundIn, searchDate } from './search-response.ts';

/** How many header sections one command asks for. */
const HEADERS_AT_ONCE = 100;

/** A reader over a connection that is signed in; it closes the connection when it is disposed of. */
export function openStreamReader(connection: ImapConnection, verb: Verb = 'EXAMINE'): MailReader {
  return new ImapStreamReader(connection, verb);
}

class ImapStreamReader implements MailReader {
  readonly #connection: ImapConnection;
  readonly #opening: Opening;
  /** The last fetch that was asked for. */
  #fetching: Fetching | undefined;
  readonly #answers = { reader: new FetchReader(), habits: { bodyFirst: false } };
  readonly #listings: Listings;
  readonly #mailboxes: AccountMailboxes;

  constructor(connection: ImapConnection, verb: Verb) {
    this.#connection = connection;
    this.#opening = new Opening(connection, verb);
    this.#listings = new Listings(connection, this.#opening, this.#answers.reader);
    this.#mailboxes = new AccountMailboxes(connection);
  }

  open(path: string, { counted = false } = {}): Promise<Opened> {
    this.#listings.letGo();
    return this.#opening.open(path, counted && this.#connection.capabilities.has('CONDSTORE'));
  }

  #ensure(path: string, uids?: readonly number[]): Promise<Opened> {
    this.#listings.letGo();
    return this.#opening.ensure(path, uids);
  }

  async status(path: string): Promise<Opened> {
    this.#listings.letGo();
    const modseq = this.#connection.capabilities.has('CONDSTORE') ? ['HIGHESTMODSEQ'] : [];
    const numbers = await askStatus(this.#connection, path, ['MESSAGES', 'UIDNEXT', 'UIDVALIDITY', ...modseq]);
    const uidValidity = numbers.get('UIDVALIDITY') ?? 0n;
    if (uidValidity === 0n)
      throw new MailError('refused', 'The mail server gives no UIDVALIDITY.').of(this.#connection.role);
    const [uidNext, highestModseq] = [numbers.get('UIDNEXT'), numbers.get('HIGHESTMODSEQ')];
    return {
      uidValidity,
      exists: Number(numbers.get('MESSAGES') ?? 0n),
      ...(uidNext === undefined ? {} : { uidNext: Number(uidNext) }),
      ...(highestModseq === undefined ? {} : { highestModseq }),
    };
  }

  get canListMailboxes(): boolean {
    return this.#connection.capabilities.has('UNSELECT');
  }

  async mailboxes(options?: ListOptions): Promise<readonly Mailbox[]> {
    this.#listings.letGo();
    const closed = this.#opening.close();
    const listed = this.#mailboxes.list(options);
    // STATUS of a mailbox that is still open may be out of date (RFC 9051 §6.3.11).
    const [, mailboxes] = await Promise.all([closed, listed]);
    return mailboxes;
  }

  openAndList(path: string): OpenedListing {
    return this.#listings.openAndList(path);
  }

  listAhead(paths: readonly string[]): void {
    this.#listings.listAhead(paths);
  }

  list(path: string, fromUid?: number): AsyncIterable<readonly Listed[]> {
    return this.#listings.list(path, fromUid);
  }

  look(path: string, uids: readonly number[]): AsyncIterable<readonly Listed[]> {
    return this.#listings.look(path, uids);
  }

  async search(path: string, since?: Date): Promise<readonly number[]> {
    const { exists } = await this.#ensure(path);
    if (exists === 0) return [];
    const compact = this.#connection.capabilities.has('ESEARCH');
    const uids: number[] = [];
    const key = since === undefined ? 'ALL' : `SINCE ${searchDate(since)}`;
    await this.#connection.command(`UID SEARCH ${compact ? 'RETURN (ALL) ' : ''}${key}`, {
      untagged: (_parts, line) => {
        const found = foundIn(line, LISTING_LIMIT) ?? [];
        if (uids.length + found.length > LISTING_LIMIT)
          throw new MailError('lost', 'The mail server finds messages without end.');
        for (const uid of found) uids.push(uid);
        return found.length > 0;
      },
    });
    // Each once. A Set of as many takes ten times as long.
    const sorted = Float64Array.from(uids).toSorted();
    return Array.from(sorted.filter((uid, at) => uid !== sorted[at - 1]));
  }

  async *headers(path: string, uids: readonly number[]): AsyncGenerator<{ uid: number; header: Buffer }> {
    await this.#ensure(path, uids);
    for (let from = 0; from < uids.length; from += HEADERS_AT_ONCE)
      yield* await fetchHeaders(this.#connection, this.#answers.reader, uids.slice(from, from + HEADERS_AT_ONCE));
  }

  fetch(path: string, uids: readonly number[]): AsyncIterable<Fetched> {
    const open = () => this.#ensure(path, uids);
    this.#fetching = new Fetching(this.#connection, this.#answers, uids, { open, before: this.#fetching });
    return this.#fetching;
  }

  get isOver(): boolean {
    return this.#connection.ended !== undefined;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#listings.letGo();
    return this.#connection.logout();
  }
}
