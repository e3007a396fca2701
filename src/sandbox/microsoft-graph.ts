import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import * as v from 'valibot';
import { bearerOf } from './bearer.ts';
import type { Documents } from './contacts/documents.ts';

const CONTACTS = 'contacts';
const PHOTOS = 'photos';
const LARGEST_BATCH = 20;
const LARGEST_PAGE = 1000;
const LARGEST_PHOTO = 4 * 1024 * 1024;
/** The writable properties of a contact (Graph v1.0, resource type contact). */
const WRITABLE = new Set([
  'assistantName',
  'birthday',
  'businessAddress',
  'businessHomePage',
  'businessPhones',
  'categories',
  'children',
  'companyName',
  'department',
  'displayName',
  'emailAddresses',
  'fileAs',
  'generation',
  'givenName',
  'homeAddress',
  'homePhones',
  'imAddresses',
  'initials',
  'jobTitle',
  'manager',
  'middleName',
  'mobilePhone',
  'nickName',
  'officeLocation',
  'otherAddress',
  'parentFolderId',
  'personalNotes',
  'profession',
  'spouseName',
  'surname',
  'title',
  'yomiCompanyName',
  'yomiGivenName',
  'yomiSurname',
  'singleValueExtendedProperties',
  'multiValueExtendedProperties',
]);

const Json = v.record(v.string(), v.unknown());
type Json = v.InferOutput<typeof Json>;
const Contact = v.pipe(
  v.looseObject({
    emailAddresses: v.optional(
      v.array(v.object({ name: v.optional(v.nullable(v.string())), address: v.optional(v.nullable(v.string())) })),
    ),
    businessPhones: v.optional(v.array(v.string())),
    homePhones: v.optional(v.array(v.string())),
    mobilePhone: v.optional(v.nullable(v.string())),
    categories: v.optional(v.array(v.string())),
    singleValueExtendedProperties: v.optional(v.array(v.object({ id: v.string(), value: v.string() }))),
  }),
  v.check((contact) => Object.keys(contact).every((name) => WRITABLE.has(name) || name.startsWith('@odata.'))),
);
const Batch = v.object({
  requests: v.pipe(
    v.array(
      v.object({
        id: v.string(),
        method: v.string(),
        url: v.string(),
        headers: v.optional(v.record(v.string(), v.string())),
        body: v.optional(v.unknown()),
        dependsOn: v.optional(v.array(v.string()), []),
      }),
    ),
    v.maxLength(LARGEST_BATCH),
  ),
});

export type GraphOptions = {
  /** The API's base address, such as `http://localhost:4000/graph/v1.0`. */
  readonly url: string;
  readonly documents: Documents;
  /** The owner of the contacts that a token gives access to; `null` when the token is valid but lacks the scope. */
  readonly ownerOf: (token: string) => Promise<string | null | undefined>;
};

type Request = { readonly method: string; readonly url: URL; readonly body: unknown; readonly ifMatch?: string };
type Answer = { readonly status: 200 | 201 | 204 | 400 | 404 | 405 | 412; readonly body: unknown };

/** The part of Microsoft Graph v1.0 that lists, creates and updates contacts and sets their photos, alone or in batches. */
export function makeGraphApi({ url, documents, ownerOf }: GraphOptions): Hono {
  const app = new Hono();
  app.all('*', async (c) => {
    const token = bearerOf(c.req.header('authorization'));
    const owner = token === undefined ? undefined : await ownerOf(token);
    if (owner === undefined)
      return c.json(errorOf('InvalidAuthenticationToken', 'The access token is not valid.'), 401);
    if (owner === null) return c.json(errorOf('ErrorAccessDenied', 'Access is denied.'), 403);
    if (Number(c.req.header('content-length') ?? 0) > 2 * LARGEST_PHOTO)
      return c.json(errorOf('RequestTooLarge', 'The request is too large.'), 413);
    const book = new Book(url, documents, owner);
    const { pathname, search } = new URL(c.req.url);
    const below = new URL(url + pathname.slice(pathname.indexOf('/v1.0') + 5) + search);
    if (c.req.method === 'POST' && below.pathname.endsWith('/$batch')) {
      const batch = v.safeParse(Batch, await c.req.json().catch(() => null));
      if (!batch.success) return c.json(errorOf('BadRequest', 'The batch is not valid; it may have 20 requests.'), 400);
      return c.json({ responses: runBatch(book, url, batch.output.requests) });
    }
    const isPhoto = below.pathname.endsWith('/photo/$value');
    if (isPhoto && c.req.method === 'GET') {
      const photo = book.photo(below);
      if (photo === undefined) return c.json(notFound().body as object, 404);
      return c.body(new Uint8Array(Buffer.from(photo.bytes, 'base64')), 200, { 'content-type': photo.type });
    }
    const bytes = isPhoto ? Buffer.from(await c.req.arrayBuffer()) : null;
    const type = c.req.header('content-type') ?? '';
    const body: unknown = bytes === null ? await c.req.json().catch(() => null) : { type, bytes };
    const ifMatch = c.req.header('if-match');
    const answer = book.perform({
      method: c.req.method,
      url: below,
      body,
      ...(ifMatch === undefined ? {} : { ifMatch }),
    });
    return answer.body === null ? c.body(null, 204) : c.json(answer.body as object, answer.status as 200);
  });
  return app;
}

/** Runs the requests in order; one that depends on a failed one is not started (424). */
function runBatch(book: Book, url: string, requests: v.InferOutput<typeof Batch>['requests']) {
  const statuses = new Map<string, number>();
  return requests.map(({ id, method, url: path, headers = {}, body, dependsOn }) => {
    const blocked = dependsOn.some((other) => (statuses.get(other) ?? 500) >= 400);
    const target = URL.parse(`${url}/${path.replace(/^\/+/, '')}`);
    const [, ifMatch] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'if-match') ?? [];
    const answer =
      blocked || target === null
        ? null
        : book.perform({
            method: method.toUpperCase(),
            url: target,
            body,
            ...(ifMatch === undefined ? {} : { ifMatch }),
          });
    const status = answer?.status ?? (blocked ? 424 : 400);
    statuses.set(id, status);
    const failed = errorOf(blocked ? 'FailedDependency' : 'BadRequest', 'The request was not begun.');
    return {
      id,
      status,
      headers: { 'Content-Type': 'application/json' },
      body: answer?.body ?? (answer === null ? failed : null),
    };
  });
}

class Book {
  readonly #url: string;
  readonly #documents: Documents;
  readonly #owner: string;

  constructor(url: string, documents: Documents, owner: string) {
    this.#url = url;
    this.#documents = documents;
    this.#owner = owner;
  }

  perform({ method, url, body, ifMatch }: Request): Answer {
    const [, id, photo] = /\/me\/contacts(?:\/([^/]+)(\/photo(?:\/\$value)?)?)?$/.exec(url.pathname) ?? [];
    if (!/\/me\/contacts(\/|$)/.test(url.pathname)) return notFound();
    const contactId = id === undefined ? '' : decodeURIComponent(id);
    if (id !== undefined && !this.#contacts().has(contactId)) return notFound();
    switch (`${method} ${id === undefined ? 'contacts' : `contact${photo ?? ''}`}`) {
      case 'GET contacts':
        return this.#list(url);
      case 'POST contacts':
        return this.#write(randomUUID(), {}, body, 201);
      case 'GET contact':
        return { status: 200, body: selected(this.#contacts().get(contactId) ?? {}, url) };
      case 'PATCH contact':
        if (ifMatch !== undefined && ifMatch !== this.#contacts().get(contactId)?.['@odata.etag'])
          return { status: 412, body: errorOf('ErrorIrresolvableConflict', 'The contact has changed.') };
        return this.#write(contactId, this.#contacts().get(contactId) ?? {}, body, 200);
      case 'DELETE contact':
        this.#documents.remove(this.#owner, CONTACTS, contactId);
        return { status: 204, body: null };
      case 'GET contact/photo': {
        const found = this.photo(url);
        return found === undefined
          ? notFound()
          : { status: 200, body: { id: '40X40', '@odata.mediaContentType': found.type } };
      }
      case 'PUT contact/photo/$value':
      case 'PATCH contact/photo/$value':
        return this.#setPhoto(contactId, body);
      default:
        return { status: 405, body: errorOf('Request_BadRequest', 'The method is not allowed here.') };
    }
  }

  photo(url: URL): { type: string; bytes: string } | undefined {
    const id = decodeURIComponent(/\/me\/contacts\/([^/]+)\/photo/.exec(url.pathname)?.[1] ?? '');
    return (this.#documents.all(this.#owner, PHOTOS) as ReadonlyMap<string, { type: string; bytes: string }>).get(id);
  }

  #contacts(): ReadonlyMap<string, Json> {
    return this.#documents.all(this.#owner, CONTACTS) as ReadonlyMap<string, Json>;
  }

  #list(url: URL): Answer {
    const top = Number(url.searchParams.get('$top') ?? 10);
    const skip = Number(url.searchParams.get('$skip') ?? 0);
    if (!Number.isInteger(top) || top < 1 || top > LARGEST_PAGE || !Number.isInteger(skip) || skip < 0)
      return { status: 400, body: errorOf('ErrorInvalidUrlQuery', 'The query makes no sense.') };
    const all = [...this.#contacts().values()];
    const next = new URL(url);
    next.searchParams.set('$skip', String(skip + top));
    return {
      status: 200,
      body: {
        '@odata.context': `${this.#url}/$metadata#me/contacts`,
        value: all.slice(skip, skip + top).map((contact) => selected(contact, url)),
        ...(skip + top < all.length ? { '@odata.nextLink': next.href } : {}),
      },
    };
  }

  #write(id: string, before: Json, body: unknown, status: 200 | 201): Answer {
    const read = v.safeParse(Contact, body);
    if (!read.success)
      return {
        status: 400,
        body: errorOf('RequestBodyRead', 'The contact has a property that is unknown or not valid.'),
      };
    const now = new Date().toISOString();
    const contact: Json = {
      emailAddresses: [],
      businessPhones: [],
      homePhones: [],
      categories: [],
      createdDateTime: now,
      ...before,
      ...read.output,
      id,
      lastModifiedDateTime: now,
      '@odata.etag': `W/"${randomUUID()}"`,
    };
    this.#documents.put(this.#owner, CONTACTS, id, contact);
    return { status, body: withoutExtensions(contact) };
  }

  #setPhoto(id: string, body: unknown): Answer {
    const photo = v.safeParse(
      v.object({ type: v.pipe(v.string(), v.regex(/^image\//)), bytes: v.instance(Buffer) }),
      body,
    );
    if (!photo.success || photo.output.bytes.length === 0 || photo.output.bytes.length > LARGEST_PHOTO)
      return { status: 400, body: errorOf('ErrorInvalidImage', 'The photo is no image, or too large.') };
    const { type, bytes } = photo.output;
    this.#documents.put(this.#owner, PHOTOS, id, { type, bytes: bytes.toString('base64') });
    return { status: 200, body: {} };
  }
}

/** The properties that `$select` names; extended ones only when `$expand` asks for them. */
function selected(contact: Json, { searchParams }: URL): Json {
  const names = searchParams.get('$select')?.split(',');
  const plain = withoutExtensions(contact);
  const chosen = names === undefined ? plain : Object.fromEntries(names.map((name) => [name, plain[name] ?? null]));
  const wanted = /^singleValueExtendedProperties\(\$filter=id eq '([^']*)'\)$/.exec(
    searchParams.get('$expand') ?? '',
  )?.[1];
  const properties = contact['singleValueExtendedProperties'];
  const shown =
    wanted === undefined || !Array.isArray(properties)
      ? []
      : properties.filter((property) => v.is(v.object({ id: v.literal(wanted) }), property));
  return {
    '@odata.etag': contact['@odata.etag'],
    id: contact['id'],
    ...chosen,
    ...(shown.length === 0 ? {} : { singleValueExtendedProperties: shown }),
  };
}

function withoutExtensions(contact: Json): Json {
  const { singleValueExtendedProperties: _single, multiValueExtendedProperties: _multi, ...plain } = contact;
  return plain;
}

function notFound(): Answer {
  return { status: 404, body: errorOf('ErrorItemNotFound', 'The specified object was not found in the store.') };
}

function errorOf(code: string, message: string) {
  return { error: { code, message } };
}
