import { setImmediate as turn } from 'node:timers/promises';
import { davRequest, propfind, type DAVResponse } from 'tsdav';
import { CONTACTS_AT_MOST, ContactStoreError, isOfOne } from '../contact-store.ts';
import type { CardFault } from '../vcard/vcard-lines.ts';
import { ANSWER_OCTETS, AnotherPage, AnswerTooLarge, type Web, type WebRequest } from '../web.ts';
import { hrefsOf, isBook, isCollection, isEmptyCollection, nameOf, textOf } from './dav-properties.ts';
import { inUtf8, isUnreadable, partsOf } from './multistatus.ts';
import { isWellFormed } from './well-formed.ts';

/** Cards requested in one multiget (RFC 6352 §8.7). */
const CARDS_AT_ONCE = 50;
/** Most address books in an account. */
const BOOKS_AT_MOST = 100;

/** Most octets of XML parsed synchronously. If a multiget exceeds them, fewer cards are requested at once. */
export const CARDS_OCTETS = 2 * 1024 * 1024;
/**
 * How many times as long as other requests the list of a book's cards may take: Radicale looks through all of them
 * first, three quarters of a minute for 10,000 on a busy machine. Asked once more, it would begin again beside that.
 */
const LISTED_SLOWLY = 4;
/** The largest card, in octets. One too large for a multiget is requested alone. */
export const CARD_OCTETS = 16 * 1024 * 1024;
/** The largest file linked by a card that is downloaded, in octets. */
const FILE_OCTETS = 10 * 1024 * 1024;
const BEGINS = /^BEGIN:VCARD/im;
/** After this many failed files in a row, each of which costs half a minute of tries, no more are requested. */
const FILES_FAILED_AT_MOST = 3;

/** The answer is not a multistatus, or only part of one. */
class AnswerUnreadable extends ContactStoreError {
  override name = 'AnswerUnreadable';
}

/** A card as the server holds it, or why it can't be read: it exceeds `CARD_OCTETS`, or the server fails to return it. */
export type StoredCard =
  | { readonly url: URL; readonly text: string }
  | { readonly url: URL; readonly text: null; readonly fault: CardFault };

export type Book = { readonly url: URL; readonly name: string };
/** A card as listed; its `etag` changes with its text. */
export type ListedCard = { readonly url: URL; readonly etag: string };

type DavFetch = NonNullable<Parameters<typeof propfind>[0]['fetch']>;

/** The address books of an account, over CardDAV (RFC 6352). */
export class Dav {
  readonly #web: Web;
  #filesFailed = 0;

  constructor(web: Web) {
    this.#web = web;
  }

  /**
   * Starts at the configured address: an address book, a home set, or anything that leads to one (RFC 6764 §6). There are
   * none if the home set that the server names has none, as for somebody who has never had a contact.
   */
  async books(signal: AbortSignal): Promise<Book[]> {
    for (const start of [this.#web.base, this.#web.resolve('/.well-known/carddav')]) {
      const found = await this.#booksFrom(start, signal);
      if (found !== null) return found;
    }
    throw new ContactStoreError('refused', `${this.#web.base.host} shows no address book`);
  }

  /** @returns `null` if nothing there says where the address books are */
  async #booksFrom(start: URL, signal: AbortSignal): Promise<Book[] | null> {
    const [here] = await this.#properties(start, '0', signal);
    if (here === undefined) return null;
    if (isBook(here)) return [{ url: start, name: nameOf(here) }];
    const own = hrefsOf(here, 'addressbookHomeSet');
    const homes = own.length > 0 ? own : await this.#homesOf(here, start, signal);
    const books: Book[] = [];
    let isShown = homes.length > 0;
    for (const home of homes.length === 0 ? [start] : homes.map((href) => this.#web.resolve(href, start))) {
      const within = await this.#booksIn(home, signal);
      books.push(...(within ?? []));
      isShown &&= within !== null;
    }
    return books.length > 0 || isShown ? books : null;
  }

  async #homesOf(here: DAVResponse, start: URL, signal: AbortSignal): Promise<string[]> {
    const [principal] = hrefsOf(here, 'currentUserPrincipal');
    if (principal === undefined) return [];
    const [properties] = await this.#properties(this.#web.resolve(principal, start), '0', signal);
    return properties === undefined ? [] : hrefsOf(properties, 'addressbookHomeSet');
  }

  /** @returns `null` if there may be some that the server does not show */
  async #booksIn(home: URL, signal: AbortSignal): Promise<Book[] | null> {
    const shown = await this.#properties(home, '1', signal);
    const books = shown.filter(isBook);
    if (books.length === 0 && !isEmptyCollection(shown)) return null;
    if (books.length > BOOKS_AT_MOST)
      throw new ContactStoreError('too many', `${home.host} has more than ${BOOKS_AT_MOST} address books`);
    return books.flatMap((book) =>
      book.href === undefined ? [] : [{ url: this.#web.resolve(book.href, home), name: nameOf(book) }],
    );
  }

  /** The addresses of a book's cards, sorted, so that every run reads them in the same order. */
  async cards(book: URL, signal: AbortSignal): Promise<ListedCard[]> {
    const cards: ListedCard[] = [];
    for await (const listed of this.#listed(book, signal)) {
      this.#check(listed, 'list its cards');
      // Nothing else is kept: each response would retain the whole text that it was parsed from.
      for (const { href, props, status } of listed) {
        if (href === undefined || isCollection(props)) continue;
        const url = this.#web.resolve(href, book);
        const isItself = url.pathname === book.pathname;
        if (status === 507 || (isItself && status >= 400))
          throw new ContactStoreError('refused', `${book.host} does not list all of its cards`);
        if (!isItself) cards.push({ url, etag: textOf(props?.['getetag']) });
      }
      if (cards.length > CONTACTS_AT_MOST)
        throw new ContactStoreError('too many', `${book.host} has more than ${CONTACTS_AT_MOST} cards`);
    }
    return cards.toSorted((a, b) => (a.url.pathname < b.url.pathname ? -1 : 1));
  }

  /** In parts, yielding to the event loop after each. */
  async *#listed(book: URL, signal: AbortSignal): AsyncIterable<readonly DAVResponse[]> {
    const ask = this.#fetch(signal, { slowness: LISTED_SLOWLY });
    const parts: string[] = [];
    let said: ResponseInit = {};
    const nextPart = () => new Response(parts.shift() ?? null, said);
    const read = (fetch: DavFetch) => {
      const props = { 'd:getetag': {}, 'd:resourcetype': {}, 'd:getcontenttype': {} };
      return propfind({ url: book.href, props, depth: '1', fetch });
    };
    yield await read(async (...asked) => {
      const answer = await ask(...asked).catch((error: unknown) => {
        if (!(error instanceof AnswerTooLarge)) throw error;
        // No later run would find it shorter.
        throw new ContactStoreError('too many', error.message, { host: book.host, cause: error });
      });
      said = { status: answer.status, headers: answer.headers };
      parts.push(...partsOf(await answer.text()));
      if (parts.some(({ length }) => length > CARDS_OCTETS))
        throw new ContactStoreError('unexpected', `${book.host} lists its cards at too great a length`);
      return this.#whole(nextPart());
    });
    while (parts.length > 0) {
      await turn();
      yield await read(() => this.#whole(nextPart()));
    }
  }

  /** The cards at these addresses, without those deleted in the meantime. */
  async *fetchCards(book: URL, cards: readonly URL[], signal: AbortSignal): AsyncIterable<StoredCard> {
    for (let start = 0; start < cards.length; start += CARDS_AT_ONCE)
      yield* this.#multiget(book, cards.slice(start, start + CARDS_AT_ONCE), signal);
  }

  async *#multiget(book: URL, cards: readonly URL[], signal: AbortSignal): AsyncIterable<StoredCard> {
    let given: readonly StoredCard[];
    try {
      given = await this.#ask(book, cards, signal);
    } catch (error) {
      if (!(error instanceof AnswerTooLarge) && !(error instanceof AnswerUnreadable)) throw error;
      const [card] = cards;
      if (card !== undefined && cards.length === 1) yield* await this.#alone(book, card, 'too large', signal);
      if (cards.length === 1) return;
      const middle = Math.ceil(cards.length / 2);
      yield* this.#multiget(book, cards.slice(0, middle), signal);
      yield* this.#multiget(book, cards.slice(middle), signal);
      return;
    }
    yield* given;
    const paths = new Set(given.map(({ url }) => pathOf(url)));
    for (const card of cards) if (!paths.has(pathOf(card))) yield* await this.#alone(book, card, 'not a vCard', signal);
  }

  async #ask(book: URL, cards: readonly URL[], signal: AbortSignal): Promise<StoredCard[]> {
    const multiget = {
      _attributes: { 'xmlns:d': 'DAV:', 'xmlns:card': 'urn:ietf:params:xml:ns:carddav' },
      'd:prop': { 'd:getetag': {}, 'card:address-data': {} },
      'd:href': cards.map(({ pathname, search }) => `${pathname}${search}`),
    };
    // tsdav's own multiget fails altogether if the server fails to return one card.
    const answers = await davRequest({
      url: book.href,
      init: {
        method: 'REPORT',
        namespace: 'card',
        headers: { depth: '1' },
        body: { 'addressbook-multiget': multiget },
      },
      fetch: this.#fetchWhole(signal),
    });
    this.#check(answers, 'give its cards');
    return answers.flatMap(({ href, props }) => {
      const text = textOf(props?.['addressData']);
      return href === undefined || text === '' ? [] : [{ url: this.#web.resolve(href, book), text }];
    });
  }

  /** A card by GET; none if it was deleted. @param fault its fault if that fails as well */
  async #alone(book: URL, url: URL, fault: CardFault, signal: AbortSignal): Promise<StoredCard[]> {
    const found = await this.#read(url, fault, signal);
    // A server that is out of order says of every card that it is gone, or hands out a page in its place.
    if (!found.some(({ text }) => text !== null && BEGINS.test(text))) await this.requireBook(book, signal);
    return found;
  }

  async #read(url: URL, fault: CardFault, signal: AbortSignal): Promise<StoredCard[]> {
    try {
      const card = await this.read(url, signal, CARD_OCTETS);
      return card === null ? [] : [{ url, text: card.text }];
    } catch (error) {
      if (error instanceof AnswerTooLarge) return [{ url, text: null, fault: 'too large' }];
      if (error instanceof AnotherPage) return [{ url, text: null, fault: 'not a vCard' }];
      if (error instanceof ContactStoreError && (error.fault === 'refused' || isOfOne(error)))
        return [{ url, text: null, fault }];
      throw error;
    }
  }

  /** @throws {ContactStoreError} unless the server shows this address book */
  async requireBook(book: URL, signal: AbortSignal): Promise<void> {
    const [here] = await this.#properties(book, '0', signal);
    if (here === undefined)
      throw new ContactStoreError('unexpected', `${book.host} no longer shows its address book`, { host: book.host });
  }

  /** Creates a card where there is none. The caller judges the status. */
  async create(url: URL, card: string, signal: AbortSignal): Promise<number> {
    const headers = { 'content-type': 'text/vcard; charset=utf-8', 'if-none-match': '*' };
    const { status } = await this.#web.ask({ method: 'PUT', url, headers, body: card, repeatable: true }, signal);
    return status;
  }

  /** A card with its `etag`; `null` if it was deleted. */
  async read(
    url: URL,
    signal: AbortSignal,
    limit: number = ANSWER_OCTETS,
  ): Promise<{ readonly text: string; readonly etag: string } | null> {
    const { status, headers, body } = await this.#web.ask(
      // Servers that compress give the answer another etag, or a weak one, which `If-Match` never matches.
      { method: 'GET', url, headers: { 'accept-encoding': 'identity' }, repeatable: true, limit },
      signal,
    );
    if (status === 404 || status === 410) return null;
    const { host } = this.#web.base;
    if (status !== 200)
      throw new ContactStoreError('refused', `${host} does not give a card: ${status}`, { host, status });
    return { text: (await inUtf8(body)).toString('utf8'), etag: headers.get('etag') ?? '' };
  }

  /** Replaces the card that was read; 412 if it has changed since. The caller judges the status. */
  async replace(url: URL, card: string, etag: string, signal: AbortSignal): Promise<number> {
    const headers = { 'content-type': 'text/vcard; charset=utf-8', 'if-match': etag };
    // Safe to repeat: a second execution answers 412, and the card is read again.
    const { status } = await this.#web.ask({ method: 'PUT', url, headers, body: card, repeatable: true }, signal);
    return status;
  }

  /** A file on this server, such as a photo that a card links to; `null` for other servers, and if it can't be read. */
  async file(
    link: string,
    signal: AbortSignal,
  ): Promise<{ readonly mediaType: string; readonly bytes: Buffer } | null> {
    if (this.#filesFailed >= FILES_FAILED_AT_MOST) return null;
    try {
      const url = this.#web.resolve(link);
      const { status, headers, body } = await this.#web.ask(
        { method: 'GET', url, repeatable: true, limit: FILE_OCTETS },
        signal,
      );
      this.#filesFailed = 0;
      const mediaType = (headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
      return status === 200 && mediaType.startsWith('image/') && body.length > 0 ? { mediaType, bytes: body } : null;
    } catch (error) {
      // A missing file must not hold up its contact.
      if (!(error instanceof ContactStoreError) || error.fault === 'authentication') throw error;
      if (error.fault === 'unavailable') this.#filesFailed += 1;
      return null;
    }
  }

  async #properties(url: URL, depth: '0' | '1', signal: AbortSignal): Promise<DAVResponse[]> {
    const answers = await propfind({
      url: url.href,
      props: {
        'd:resourcetype': {},
        'd:displayname': {},
        'd:current-user-principal': {},
        'card:addressbook-home-set': {},
      },
      depth,
      fetch: this.#fetchWhole(signal),
    });
    if (answers.every(({ props }) => props === undefined)) {
      if (answers.some(({ status }) => status === 403 || status === 404 || status === 405)) return [];
      this.#check(answers, 'show its address books');
    }
    return answers;
  }

  #check(answers: readonly DAVResponse[], what: string): void {
    const [first] = answers;
    if (answers.some(isUnreadable)) throw this.#unreadable();
    // tsdav returns an answer that is not a multistatus as a single response without properties.
    if (first === undefined || answers.some(({ props }) => props !== undefined)) return;
    // Within a multistatus: a card that is gone.
    if (first.status === 207 || (first.status === 404 && first.href !== undefined && first.href !== '')) return;
    const { host } = this.#web.base;
    const { status } = first;
    // Another page in its place, such as that of something between us, refuses nothing.
    const fault = status < 400 ? 'unexpected' : 'refused';
    throw new ContactStoreError(fault, `${host} does not ${what}: ${status}`, { host, status });
  }

  #fetchWhole(signal: AbortSignal): DavFetch {
    const ask = this.#fetch(signal, { limit: CARDS_OCTETS });
    return async (...asked) => this.#whole(await ask(...asked));
  }

  /** An answer. If it is a multistatus, its XML is known to be complete. */
  async #whole(answer: Response): Promise<Response> {
    if (answer.status !== 207) return answer;
    const text = await answer.text();
    if (!isWellFormed(text)) throw this.#unreadable();
    return new Response(text, { status: answer.status, headers: answer.headers });
  }

  #unreadable(): AnswerUnreadable {
    const { host } = this.#web.base;
    return new AnswerUnreadable('unexpected', `${host} answers what can not be read`, { host, status: 207 });
  }

  /** A fetch for tsdav that stays on one origin, is bounded and retries. tsdav sends only requests that read. */
  #fetch(signal: AbortSignal, bounds: Pick<WebRequest, 'limit' | 'slowness'>): DavFetch {
    return async (input, init) => {
      const url = this.#web.resolve(input instanceof Request ? input.url : String(input));
      const { status, headers, body } = await this.#web.ask(
        {
          method: init?.method ?? 'GET',
          url,
          headers: Object.fromEntries(new Headers(init?.headers)),
          ...(typeof init?.body === 'string' ? { body: init.body } : {}),
          repeatable: true,
          ...bounds,
        },
        signal,
      );
      return new Response(status === 204 ? null : Uint8Array.from(await inUtf8(body)), { status, headers });
    };
  }
}

/** Ignores differences in spelling. */
function pathOf({ pathname, search }: URL): string {
  return decoded(`${pathname}${search}`);
}

/** A path with its percent-encoding decoded; unchanged if that is malformed. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}
