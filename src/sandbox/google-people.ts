import { createHash, randomUUID } from 'node:crypto';
import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { bearerOf } from './bearer.ts';
import type { Documents } from './contacts/documents.ts';

const PEOPLE = 'people';
const GROUPS = 'groups';
const LARGEST_BATCH = 200;
const LARGEST_PAGE = 1000;
const LARGEST_PHOTO = 8 * 1024 * 1024;
const LARGEST_BODY = 16 * 1024 * 1024;
/** Fields that a contact has at most one of. */
const SINGLE_FIELDS = ['names', 'biographies', 'birthdays', 'genders'];

const Fields = v.record(v.string(), v.unknown());
type Fields = v.InferOutput<typeof Fields>;
const Mask = v.pipe(v.string(), v.regex(/^[a-zA-Z]+(,[a-zA-Z]+)*$/));
const Create = v.object({
  contacts: v.pipe(v.array(v.object({ contactPerson: Fields })), v.minLength(1), v.maxLength(LARGEST_BATCH)),
  readMask: Mask,
});
const Update = v.object({ contacts: v.record(v.string(), Fields), updateMask: Mask, readMask: Mask });
const Delete = v.object({ resourceNames: v.pipe(v.array(v.string()), v.maxLength(500)) });
const Photo = v.object({ photoBytes: v.pipe(v.string(), v.base64()) });
const NewGroup = v.object({ contactGroup: v.object({ name: v.pipe(v.string(), v.trim(), v.minLength(1)) }) });
const Name = v.looseObject({
  givenName: v.optional(v.string()),
  middleName: v.optional(v.string()),
  familyName: v.optional(v.string()),
  unstructuredName: v.optional(v.string()),
});

export type PeopleOptions = {
  readonly documents: Documents;
  /** The owner of the contacts that a token gives access to; `null` when the token is valid but lacks the scope. */
  readonly ownerOf: (token: string) => Promise<string | null | undefined>;
};

type Answer = { readonly status: 200 | 400 | 404 | 409; readonly body: unknown };

/** The part of Google's People API v1 that lists, creates and updates contacts, and sets their photos and groups. */
export function makePeopleApi({ documents, ownerOf }: PeopleOptions): Hono {
  const app = new Hono();
  app.all('*', async (c) => {
    const token = bearerOf(c.req.header('authorization'));
    const owner = token === undefined ? undefined : await ownerOf(token);
    if (owner === undefined) return c.json(errorOf(401, 'UNAUTHENTICATED', 'Invalid authentication credentials.'), 401);
    if (owner === null) return c.json(errorOf(403, 'PERMISSION_DENIED', 'Insufficient authentication scopes.'), 403);
    if (Number(c.req.header('content-length') ?? 0) > LARGEST_BODY) return c.json(badRequest('Too large.').body, 400);
    const { status, body } = await perform(c, new Book(documents, owner));
    return c.json(body as object, status);
  });
  return app;
}

async function perform(c: Context, book: Book): Promise<Answer> {
  const path = c.req.path.slice(c.req.path.indexOf('/v1/') + 4);
  const method = c.req.method;
  const body: unknown = method === 'GET' || method === 'DELETE' ? null : await c.req.json().catch(() => null);
  const [, id = '', verb = ''] = /^people\/(c[\w-]+)(?::(\w+))?$/.exec(path) ?? [];
  const resourceName = `people/${id}`;
  switch (`${method} ${id === '' ? path : `people/{id}${verb === '' ? '' : `:${verb}`}`}`) {
    case 'GET people/me/connections':
      return book.connections(c.req.query());
    case 'POST people:createContact':
      return one(v.safeParse(Fields, body), (person) => book.create([person], c.req.query('personFields')));
    case 'POST people:batchCreateContacts':
      return one(v.safeParse(Create, body), ({ contacts, readMask }) =>
        book.createBatch(
          contacts.map(({ contactPerson }) => contactPerson),
          readMask,
        ),
      );
    case 'POST people:batchUpdateContacts':
      return one(v.safeParse(Update, body), (update) => book.updateBatch(update));
    case 'POST people:batchDeleteContacts':
      return one(v.safeParse(Delete, body), ({ resourceNames }) => {
        for (const name of resourceNames) book.remove(name);
        return ok({});
      });
    case 'PATCH people/{id}:updateContact':
      return one(v.safeParse(Fields, body), (person) =>
        book.update(resourceName, person, c.req.query('updatePersonFields'), c.req.query('personFields')),
      );
    case 'GET people/{id}':
      return book.read(resourceName, c.req.query('personFields'));
    case 'DELETE people/{id}:deleteContact':
      return book.remove(resourceName) ? ok({}) : notFound();
    case 'PATCH people/{id}:updateContactPhoto':
      return one(v.safeParse(Photo, body), ({ photoBytes }) => book.setPhoto(resourceName, photoBytes));
    case 'GET contactGroups':
      return book.groups(c.req.query());
    case 'POST contactGroups':
      return one(v.safeParse(NewGroup, body), ({ contactGroup }) => book.createGroup(contactGroup.name));
    default:
      return notFound();
  }
}

function one<T>(read: v.SafeParseResult<v.GenericSchema<unknown, T>>, act: (value: T) => Answer): Answer {
  return read.success ? act(read.output) : badRequest('Request contains an invalid argument.');
}

class Book {
  readonly #documents: Documents;
  readonly #owner: string;

  constructor(documents: Documents, owner: string) {
    this.#documents = documents;
    this.#owner = owner;
  }

  connections({ personFields, pageSize, pageToken }: Record<string, string>): Answer {
    if (!v.is(Mask, personFields)) return badRequest('personFields mask is required.');
    const all = [...this.#people().values()];
    const page = pageOf(all, pageSize ?? '100', pageToken);
    if (page === null) return badRequest('The page makes no sense.');
    const connections = page.items.map((person) => masked(person, personFields));
    return ok({
      ...(connections.length === 0 ? {} : { connections }),
      ...page.next,
      totalPeople: all.length,
      totalItems: all.length,
    });
  }

  read(resourceName: string, mask: string | undefined): Answer {
    const person = this.#people().get(resourceName);
    if (!v.is(Mask, mask)) return badRequest('personFields mask is required.');
    return person === undefined ? notFound() : ok(masked(person, mask));
  }

  create(people: readonly Fields[], mask = 'names'): Answer {
    const [person] = people;
    if (person === undefined || faultOf(person) !== null) return badRequest('The contact is not valid.');
    return ok(masked(this.#store(`people/c${randomUUID().replaceAll('-', '')}`, person), mask));
  }

  /** Creates all of them or, if one is invalid, none. */
  createBatch(people: readonly Fields[], mask: string): Answer {
    const faults = people.map(faultOf);
    if (faults.some((fault) => fault !== null)) {
      const contactErrors = Object.fromEntries(
        faults.flatMap((fault, at) => (fault === null ? [] : [[at, { code: 3, message: fault }]])),
      );
      const type = 'type.googleapis.com/google.people.v1.BatchCreateContactsErrorDetails';
      return badRequest('Request contains an invalid argument.', [{ '@type': type, contactErrors }]);
    }
    const createdPeople = people.map((person) => {
      const stored = this.#store(`people/c${randomUUID().replaceAll('-', '')}`, person);
      return { httpStatusCode: 200, requestedResourceName: stored['resourceName'], person: masked(stored, mask) };
    });
    return ok({ createdPeople });
  }

  updateBatch({ contacts, updateMask, readMask }: v.InferOutput<typeof Update>): Answer {
    const updateResult: Fields = {};
    for (const [name, changes] of Object.entries(contacts)) {
      const person = this.#people().get(name);
      if (person === undefined) return notFound();
      if (changes['etag'] !== person['etag']) return badRequest('The etag is not that of the contact.');
      const fresh = { ...person, ...Object.fromEntries(updateMask.split(',').map((field) => [field, changes[field]])) };
      updateResult[name] = {
        httpStatusCode: 200,
        requestedResourceName: name,
        person: masked(this.#store(name, fresh), readMask),
      };
    }
    return ok({ updateResult });
  }

  /** Replaces the fields in the mask, unless the contact has changed since it was read. */
  update(resourceName: string, changes: Fields, mask: string | undefined, readMask = 'names'): Answer {
    const person = this.#people().get(resourceName);
    if (person === undefined) return notFound();
    if (!v.is(Mask, mask)) return badRequest('updatePersonFields mask is required.');
    if (changes['etag'] !== person['etag'])
      return { status: 400, body: errorOf(400, 'FAILED_PRECONDITION', 'The contact has changed since it was read.') };
    const fields = mask.split(',');
    if (faultOf(Object.fromEntries(fields.map((field) => [field, changes[field]]))) !== null)
      return badRequest('The contact is not valid.');
    const fresh = { ...person, ...Object.fromEntries(fields.map((field) => [field, changes[field] ?? []])) };
    return ok(masked(this.#store(resourceName, fresh), readMask));
  }

  remove(resourceName: string): boolean {
    const there = this.#people().has(resourceName);
    if (there) this.#documents.remove(this.#owner, PEOPLE, resourceName);
    return there;
  }

  setPhoto(resourceName: string, photoBytes: string): Answer {
    const person = this.#people().get(resourceName);
    if (person === undefined) return notFound();
    const bytes = Buffer.from(photoBytes, 'base64');
    if (bytes.length === 0 || bytes.length > LARGEST_PHOTO) return badRequest('The photo is empty or too large.');
    const url = `data:image/*;base64,${bytes.toString('base64')}`;
    return ok({ person: this.#store(resourceName, { ...person, photos: [{ url, metadata: metadata() }] }) });
  }

  groups({ pageSize, pageToken }: Record<string, string>): Answer {
    const all = [
      {
        resourceName: 'contactGroups/myContacts',
        groupType: 'SYSTEM_CONTACT_GROUP',
        name: 'myContacts',
        formattedName: 'My Contacts',
      },
      ...this.#documents.all(this.#owner, GROUPS).values(),
    ];
    const page = pageOf(all, pageSize ?? '30', pageToken);
    if (page === null) return badRequest('The page makes no sense.');
    return ok({ contactGroups: page.items, totalItems: all.length, ...page.next });
  }

  createGroup(name: string): Answer {
    const known = this.#documents.all(this.#owner, GROUPS) as ReadonlyMap<string, { name: string }>;
    if ([...known.values()].some((group) => group.name.toLowerCase() === name.toLowerCase()))
      return { status: 409, body: errorOf(409, 'ALREADY_EXISTS', 'Contact group name already exists.') };
    const resourceName = `contactGroups/${randomUUID().replaceAll('-', '').slice(0, 16)}`;
    const group = { resourceName, etag: etagOf(name), groupType: 'USER_CONTACT_GROUP', name, formattedName: name };
    this.#documents.put(this.#owner, GROUPS, resourceName, group);
    return ok(group);
  }

  #people(): ReadonlyMap<string, Fields> {
    return this.#documents.all(this.#owner, PEOPLE) as ReadonlyMap<string, Fields>;
  }

  #store(resourceName: string, fields: Fields): Fields {
    const names = v.safeParse(v.array(Name), fields['names']);
    const person: Fields = {
      photos: [{ url: 'https://photos.example/default', default: true, metadata: metadata() }],
      ...fields,
      resourceName,
      etag: etagOf(JSON.stringify(fields)),
      ...(names.success ? { names: names.output.map((name) => ({ ...name, displayName: displayName(name) })) } : {}),
    };
    this.#documents.put(this.#owner, PEOPLE, resourceName, person);
    return person;
  }
}

function displayName({ unstructuredName, givenName, middleName, familyName }: v.InferOutput<typeof Name>): string {
  return (
    unstructuredName ??
    [givenName, middleName, familyName].filter((part) => part !== undefined && part !== '').join(' ')
  );
}

/** Why a contact can't be created, or `null`. */
function faultOf(person: Fields): string | null {
  for (const field of SINGLE_FIELDS) {
    const values = person[field];
    if (Array.isArray(values) && values.length > 1) return `Only one value is allowed in ${field}.`;
  }
  return 'photos' in person ? 'Photos are set by updateContactPhoto.' : null;
}

function masked(person: Fields, mask: string): Fields {
  const fields = ['resourceName', 'etag', ...mask.split(',')];
  return Object.fromEntries(fields.flatMap((field) => (person[field] === undefined ? [] : [[field, person[field]]])));
}

function pageOf<T>(all: readonly T[], size: string, token = '') {
  const count = Number(size);
  const start = token === '' ? 0 : Number(/^from-(\d+)$/.exec(token)?.[1] ?? Number.NaN);
  if (!Number.isInteger(count) || count < 1 || count > LARGEST_PAGE || Number.isNaN(start)) return null;
  const end = start + count;
  return { items: all.slice(start, end), next: end < all.length ? { nextPageToken: `from-${end}` } : {} };
}

function metadata() {
  return { primary: true, source: { type: 'CONTACT' } };
}

function etagOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}

function ok(body: unknown): Answer {
  return { status: 200, body };
}

function notFound(): Answer {
  return { status: 404, body: errorOf(404, 'NOT_FOUND', 'Requested entity was not found.') };
}

function badRequest(message: string, details: readonly unknown[] = []): Answer {
  return { status: 400, body: errorOf(400, 'INVALID_ARGUMENT', message, details) };
}

function errorOf(code: number, status: string, message: string, details: readonly unknown[] = []) {
  return { error: { code, message, status, ...(details.length === 0 ? {} : { details }) } };
}
