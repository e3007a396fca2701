import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { fits, uidOf } from './contacts/card-filter.ts';
import { CARD, DAV, multistatus, precondition, type Resource, wantedProperties } from './contacts/carddav-answers.ts';
import type { Documents } from './contacts/documents.ts';
import { escapeXml, readXml, XmlError } from './contacts/xml.ts';
import { listen } from './listen.ts';

const KIND = 'cards';
const LARGEST_CARD = 1024 * 1024;
const LARGEST_REQUEST = 4 * 1024 * 1024;
const XML = { 'content-type': 'application/xml; charset=utf-8' };
const CTAG = 'http://calendarserver.org/ns/ getctag';

export type AddressBookOptions = {
  readonly port: number;
  /** The owner of the address book that an `Authorization` header gives access to; `undefined` when it gives none. */
  readonly authenticate: (authorization: string | undefined) => Promise<string | undefined>;
  /** The `WWW-Authenticate` header of a 401. */
  readonly challenge: 'Basic realm="Contacts", charset="UTF-8"' | 'Bearer';
  readonly documents: Documents;
};

export type AddressBook = AsyncDisposable & { readonly port: number };

type Place = { readonly email: string; readonly in: 'principal' | 'book' } | { readonly in: 'root' | 'nowhere' } | Card;
type Card = { readonly email: string; readonly in: 'card'; readonly name: string };

/** A CardDAV server (RFC 6352) with one address book per person: `/dav/{email}/contacts/`. */
export async function startAddressBook(options: AddressBookOptions): Promise<AddressBook> {
  const app = new Hono();
  app.all('*', (c) => answer(c, options));
  app.onError((error, c) => {
    if (error instanceof XmlError || error instanceof URIError) return c.text(error.message, 400);
    console.error('The sandbox address book:', error);
    return c.text('The address book failed.', 500);
  });
  const listener = getRequestListener(app.fetch);
  const server = createServer((request, response) => void listener(request, response));
  const port = await listen(server, options.port);
  return {
    port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(c: Context, { authenticate, challenge, documents }: AddressBookOptions): Promise<Response> {
  const owner = await authenticate(c.req.header('authorization'));
  if (owner === undefined) return c.body(null, 401, { 'www-authenticate': challenge });
  if (Number(c.req.header('content-length') ?? 0) > LARGEST_REQUEST) return c.body(null, 413);
  // Clients may send PROPFIND to the well-known URI itself (RFC 6764 §5).
  if (c.req.path === '/.well-known/carddav') return c.body(null, 301, { location: '/dav/' });
  const place = placeOf(c.req.path);
  if (place.in === 'nowhere') return c.body(null, 404);
  if ('email' in place && place.email !== owner) return c.body(null, 403);
  const book = new Book(documents, owner);
  switch (c.req.method) {
    case 'OPTIONS':
      return c.body(null, 204, { dav: '1, 3, addressbook', allow: 'OPTIONS, GET, PUT, DELETE, PROPFIND, REPORT' });
    case 'PROPFIND':
      return propfind(c, place, book);
    case 'REPORT':
      return report(c, place, book);
    case 'GET':
    case 'HEAD':
    case 'PUT':
    case 'DELETE':
      return place.in === 'card' ? one(c, place, book) : c.body(null, 405);
    default:
      return c.body(null, 405);
  }
}

function placeOf(path: string): Place {
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(decodeURIComponent);
  const [root, email, book, name, more] = parts;
  if (root === undefined || (root === 'dav' && email === undefined)) return { in: 'root' };
  if (root !== 'dav' || email === undefined || more !== undefined) return { in: 'nowhere' };
  if (book === undefined) return { in: 'principal', email: email.toLowerCase() };
  if (book !== 'contacts') return { in: 'nowhere' };
  return name === undefined
    ? { in: 'book', email: email.toLowerCase() }
    : { in: 'card', email: email.toLowerCase(), name };
}

/** One person's cards, keyed by file name. */
class Book {
  readonly #documents: Documents;
  readonly owner: string;
  readonly home: string;
  readonly href: string;

  constructor(documents: Documents, owner: string) {
    this.#documents = documents;
    this.owner = owner;
    this.home = `/dav/${encodeURIComponent(owner)}/`;
    this.href = `${this.home}contacts/`;
  }

  cards(): ReadonlyMap<string, string> {
    return this.#documents.all(this.owner, KIND) as ReadonlyMap<string, string>;
  }

  put(name: string, card: string): void {
    this.#documents.put(this.owner, KIND, name, card);
  }

  remove(name: string): void {
    this.#documents.remove(this.owner, KIND, name);
  }

  cardResource(name: string, card: string): Resource {
    return {
      href: this.href + encodeURIComponent(name),
      properties: new Map([
        [`${DAV} resourcetype`, ''],
        [`${DAV} getetag`, escapeXml(etagOf(card))],
        [`${DAV} getcontenttype`, 'text/vcard; charset=utf-8'],
        [`${DAV} getcontentlength`, String(Buffer.byteLength(card))],
        [`${CARD} address-data`, escapeXml(card)],
      ]),
    };
  }

  bookResource(): Resource {
    return {
      href: this.href,
      properties: new Map([
        ...this.#common('Contacts', '<d:collection/><card:addressbook/>'),
        [
          `${CARD} supported-address-data`,
          '<card:address-data-type content-type="text/vcard" version="3.0"/><card:address-data-type content-type="text/vcard" version="4.0"/>',
        ],
        [`${CARD} max-resource-size`, String(LARGEST_CARD)],
        [
          `${DAV} supported-report-set`,
          ['addressbook-multiget', 'addressbook-query']
            .map((name) => `<d:supported-report><d:report><card:${name}/></d:report></d:supported-report>`)
            .join(''),
        ],
        [CTAG, escapeXml(etagOf([...this.cards()].flat().join('\n')))],
      ]),
    };
  }

  principalResource(): Resource {
    return {
      href: this.home,
      properties: new Map([
        ...this.#common(this.owner, '<d:collection/><d:principal/>'),
        [`${DAV} principal-URL`, `<d:href>${escapeXml(this.home)}</d:href>`],
        [`${CARD} addressbook-home-set`, `<d:href>${escapeXml(this.home)}</d:href>`],
      ]),
    };
  }

  rootResource(): Resource {
    return { href: '/dav/', properties: new Map(this.#common('Contacts', '<d:collection/>')) };
  }

  #common(name: string, type: string): [string, string][] {
    return [
      [`${DAV} displayname`, escapeXml(name)],
      [`${DAV} resourcetype`, type],
      [`${DAV} current-user-principal`, `<d:href>${escapeXml(this.home)}</d:href>`],
    ];
  }
}

async function propfind(c: Context, place: Place, book: Book): Promise<Response> {
  const text = await c.req.text();
  const wanted = wantedProperties(text.trim() === '' ? null : readXml(text));
  const deep = c.req.header('depth') !== '0';
  const found = resourcesAt(place, book, deep);
  if (found === null) return c.body(null, 404);
  return c.body(multistatus(found, [], wanted), 207, XML);
}

function resourcesAt(place: Place, book: Book, deep: boolean): readonly Resource[] | null {
  switch (place.in) {
    case 'root':
      return [book.rootResource(), ...(deep ? [book.principalResource()] : [])];
    case 'principal':
      return [book.principalResource(), ...(deep ? [book.bookResource()] : [])];
    case 'book':
      return [
        book.bookResource(),
        ...(deep ? [...book.cards()].map(([name, card]) => book.cardResource(name, card)) : []),
      ];
    case 'card': {
      const card = book.cards().get(place.name);
      return card === undefined ? null : [book.cardResource(place.name, card)];
    }
    case 'nowhere':
      return null;
  }
}

async function report(c: Context, place: Place, book: Book): Promise<Response> {
  const request = readXml(await c.req.text());
  const wanted = wantedProperties(request);
  if (place.in !== 'book' || request.namespace !== CARD) return c.body(precondition(DAV, 'supported-report'), 403, XML);
  if (request.name === 'addressbook-multiget') {
    const hrefs = request.children.filter(({ name, namespace }) => namespace === DAV && name === 'href');
    const found: Resource[] = [];
    const missing: string[] = [];
    for (const { text } of hrefs) {
      const at = placeOf(URL.parse(text.trim(), 'http://localhost')?.pathname ?? '');
      const card = at.in === 'card' && at.email === book.owner ? book.cards().get(at.name) : undefined;
      if (at.in !== 'card' || card === undefined) missing.push(text.trim());
      else found.push(book.cardResource(at.name, card));
    }
    return c.body(multistatus(found, missing, wanted), 207, XML);
  }
  if (request.name !== 'addressbook-query') return c.body(precondition(DAV, 'supported-report'), 403, XML);
  const filter = request.children.find(({ name }) => name === 'filter');
  const fitting = [...book.cards()].filter(([, card]) => filter === undefined || fits(card, filter));
  return c.body(
    multistatus(
      fitting.map(([name, card]) => book.cardResource(name, card)),
      [],
      wanted,
    ),
    207,
    XML,
  );
}

async function one(c: Context, { name }: Card, book: Book): Promise<Response> {
  const card = book.cards().get(name);
  if (c.req.method === 'PUT') return put(c, name, card, book);
  if (card === undefined) return c.body(null, 404);
  if (c.req.method === 'DELETE') {
    const expected = c.req.header('if-match');
    if (expected !== undefined && expected !== '*' && expected !== etagOf(card)) return c.body(null, 412);
    book.remove(name);
    return c.body(null, 204);
  }
  return c.body(card, 200, { 'content-type': 'text/vcard; charset=utf-8', etag: etagOf(card) });
}

async function put(c: Context, name: string, before: string | undefined, book: Book): Promise<Response> {
  const expected = c.req.header('if-match');
  if (c.req.header('if-none-match') === '*' && before !== undefined) return c.body(null, 412);
  if (expected !== undefined && (before === undefined || (expected !== '*' && expected !== etagOf(before))))
    return c.body(null, 412);
  const card = await c.req.text();
  if (Buffer.byteLength(card) > LARGEST_CARD) return c.body(precondition(CARD, 'max-resource-size'), 403, XML);
  const uid = uidOf(card);
  if (!/^BEGIN:VCARD\r?\n/i.test(card) || !/\r?\nEND:VCARD\s*$/i.test(card) || uid === undefined)
    return c.body(precondition(CARD, 'valid-address-data'), 403, XML);
  if ([...book.cards()].some(([other, text]) => other !== name && uidOf(text) === uid))
    return c.body(precondition(CARD, 'no-uid-conflict'), 409, XML);
  book.put(name, card);
  return c.body(null, before === undefined ? 201 : 204, { etag: etagOf(card) });
}

function etagOf(text: string): string {
  return `"${createHash('sha256').update(text).digest('hex').slice(0, 24)}"`;
}
