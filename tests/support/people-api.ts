import { createHash } from 'node:crypto';
import type { ApiAnswer, ApiRequest } from './scripted-api.ts';

type Fields = Record<string, readonly Record<string, unknown>[]>;
export type StoredPerson = Fields & { readonly resourceName: string };

const SYSTEM_GROUPS = ['myContacts', 'starred', 'coworkers'];

/** The People API v1 as documented at developers.google.com/people, in memory, for one account. */
export class PeopleApi {
  readonly people = new Map<string, Fields>();
  readonly photos = new Map<string, Buffer>();
  readonly groups = new Map<string, string>([['contactGroups/friends', 'friends']]);
  readonly token: string;
  /** The largest page, which may be smaller than requested, to force paging. */
  page = 1_000;
  #next = 1;

  constructor(token: string) {
    this.token = token;
  }

  add(fields: Fields): string {
    const resourceName = `people/c${this.#next}`;
    this.#next += 1;
    this.people.set(resourceName, fields);
    return resourceName;
  }

  readonly answer = (request: ApiRequest): ApiAnswer => {
    const { method, url, headers } = request;
    if (headers.authorization !== `Bearer ${this.token}`) return error(401, 'UNAUTHENTICATED');
    const photo = /^\/v1\/(people\/\w+):updateContactPhoto$/.exec(url.pathname);
    if (method === 'PATCH' && photo !== null) return this.#setPhoto(photo[1] ?? '', request.json);
    const [, name = '', verb = ''] = /^\/v1\/(people\/c\w+)(:updateContact)?$/.exec(url.pathname) ?? [];
    if (name !== '' && !this.people.has(name)) return error(404, 'NOT_FOUND');
    if (method === 'GET' && name !== '' && verb === '')
      return ok(this.#show(name, url.searchParams.get('personFields')?.split(',') ?? []));
    if (method === 'PATCH' && verb !== '')
      return this.#update(name, url.searchParams.get('updatePersonFields')?.split(',') ?? [], request.json as Fields);
    switch (`${method} ${url.pathname}`) {
      case 'GET /v1/people/me/connections':
        return this.#connections(url.searchParams);
      case 'POST /v1/people:batchCreateContacts':
        return this.#create(request.json as { contacts: { contactPerson: Fields }[]; readMask?: string });
      case 'GET /v1/contactGroups':
        return ok({
          contactGroups: [
            ...SYSTEM_GROUPS.map((name) => ({
              resourceName: `contactGroups/${name}`,
              name,
              groupType: 'SYSTEM_CONTACT_GROUP',
            })),
            ...[...this.groups].map(([resourceName, name]) => ({
              resourceName,
              name,
              groupType: 'USER_CONTACT_GROUP',
            })),
          ],
        });
      case 'POST /v1/contactGroups':
        return this.#makeGroup((request.json as { contactGroup: { name: string } }).contactGroup.name);
      default:
        return error(404, 'NOT_FOUND');
    }
  };

  #connections(query: URLSearchParams): ApiAnswer {
    const fields = query.get('personFields')?.split(',') ?? [];
    if (fields.length === 0) return error(400, 'INVALID_ARGUMENT');
    const start = Number(query.get('pageToken') ?? '0');
    const size = Math.min(Number(query.get('pageSize')), this.page);
    const all = [...this.people.keys()];
    const connections = all.slice(start, start + size).map((resourceName) => this.#show(resourceName, fields));
    return ok({ connections, ...(start + size < all.length ? { nextPageToken: String(start + size) } : {}) });
  }

  #show(resourceName: string, fields: readonly string[]): StoredPerson {
    const stored = this.people.get(resourceName) ?? {};
    const names = (stored['names'] ?? []).map((name) => ({
      ...name,
      displayName: name['unstructuredName'] ?? [name['givenName'], name['familyName']].filter(Boolean).join(' '),
    }));
    const photos = [{ url: 'https://lh3.example/x', ...(this.photos.has(resourceName) ? {} : { default: true }) }];
    const shown = Object.entries({ ...stored, names, photos }).filter(([name]) => fields.includes(name));
    return { resourceName, etag: etagOf(stored), ...Object.fromEntries(shown) } as unknown as StoredPerson;
  }

  #create({ contacts, readMask }: { contacts: { contactPerson: Fields }[]; readMask?: string }): ApiAnswer {
    if (contacts.length > 200) return error(400, 'INVALID_ARGUMENT');
    const bad = [...contacts.entries()].filter(([, { contactPerson }]) => !isValid(contactPerson));
    if (bad.length > 0) {
      const contactErrors = Object.fromEntries(bad.map(([at]) => [at, { code: 3, message: 'Invalid contact.' }]));
      const type = 'type.googleapis.com/google.people.v1.BatchCreateContactsErrorDetails';
      return error(400, 'INVALID_ARGUMENT', [{ '@type': type, contactErrors }]);
    }
    const createdPeople = contacts.map(({ contactPerson }) => {
      const resourceName = this.add(contactPerson);
      return { httpStatusCode: 200, person: this.#show(resourceName, readMask?.split(',') ?? []), status: {} };
    });
    return ok({ createdPeople });
  }

  /** Replaces the fields in the mask, unless the person has changed since it was read. */
  #update(name: string, mask: readonly string[], body: Fields & { readonly etag?: unknown }): ApiAnswer {
    const before = this.people.get(name) ?? {};
    if (String(body.etag) !== etagOf(before)) return error(400, 'FAILED_PRECONDITION');
    const after = { ...before, ...Object.fromEntries(mask.map((field) => [field, body[field] ?? []])) };
    if (!isValid(after)) return error(400, 'INVALID_ARGUMENT');
    this.people.set(name, after);
    return ok(this.#show(name, mask));
  }

  #makeGroup(name: string): ApiAnswer {
    if ([...SYSTEM_GROUPS, ...this.groups.values()].some((known) => known.toLowerCase() === name.toLowerCase()))
      return error(409, 'ALREADY_EXISTS');
    if (name.length > 100) return error(400, 'INVALID_ARGUMENT');
    const resourceName = `contactGroups/g${this.groups.size}`;
    this.groups.set(resourceName, name);
    return ok({ resourceName, name, groupType: 'USER_CONTACT_GROUP' });
  }

  #setPhoto(resourceName: string, body: unknown): ApiAnswer {
    if (!this.people.has(resourceName)) return error(404, 'NOT_FOUND');
    const bytes = Buffer.from((body as { photoBytes: string }).photoBytes, 'base64');
    if (bytes.subarray(0, 4).toString() === 'bad!') return error(400, 'INVALID_ARGUMENT');
    this.photos.set(resourceName, bytes);
    return ok({});
  }
}

function etagOf(fields: Fields): string {
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex').slice(0, 16);
}

/** Whether singleton fields have one value at most, and addresses have an @. */
function isValid(person: Fields): boolean {
  const single = ['names', 'biographies', 'birthdays', 'genders'].every((field) => (person[field] ?? []).length <= 1);
  return single && (person['emailAddresses'] ?? []).every(({ value }) => String(value).includes('@'));
}

function ok(json: unknown): ApiAnswer {
  return { status: 200, json };
}

function error(code: number, status: string, details: readonly unknown[] = []): ApiAnswer {
  return { status: code, json: { error: { code, status, message: 'refused', details } } };
}
