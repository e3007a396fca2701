import * as v from 'valibot';
import type { Contact } from '../../../contract/contact.ts';
import { ContactStoreError, type ContactWriter, type ExistingContact, type WriteResult } from '../contact-store.ts';
import { COMPARED_FIELDS, existingOf, Person, personOf, uidOf } from './google-person.ts';
import { askJson, below, fitting, getJson, refusalOf } from '../json-web.ts';
import { putPhoto } from '../photo-note.ts';
import { unheldNote } from '../unheld-note.ts';
import type { Web } from '../web.ts';

/** `people.batchCreateContacts` takes no more. */
const CONTACTS_AT_ONCE = 200;
/** People and groups on a page of a listing, at most as documented. */
const PAGE = 1_000;
const PAGES_AT_MOST = 1_000;

const pageToken = v.optional(v.string(), '');
const Connections = v.object({ connections: v.optional(v.array(Person), []), nextPageToken: pageToken });
const Group = v.object({
  resourceName: v.pipe(v.string(), v.regex(/^contactGroups\/[\w-]{1,256}$/)),
  name: v.optional(v.string(), ''),
  groupType: v.optional(v.string(), ''),
});
const Groups = v.object({ contactGroups: v.optional(v.array(Group), []), nextPageToken: pageToken });
const Created = v.object({
  createdPeople: v.optional(
    v.array(v.object({ httpStatusCode: v.optional(v.number(), 200), person: v.optional(Person) })),
    [],
  ),
});
/** `BatchCreateContactsErrorDetails`: which contacts made the whole batch fail, by their place in it. */
const BatchError = v.object({
  error: v.object({
    details: v.array(v.looseObject({ contactErrors: v.optional(v.record(v.string(), v.unknown()), {}) })),
  }),
});

/** Writes by People API v1, one change at a time as Google asks for. */
export function googleWriter(web: Web): ContactWriter {
  const groups = new GroupNames(web);

  /** Those that Google names as the cause are skipped, and the rest is sent again: a batch is created whole or not at all. */
  const create = async (
    contacts: readonly Contact[],
    signal: AbortSignal,
  ): Promise<Map<Contact, WriteResult | Person>> => {
    const outcome = new Map<Contact, WriteResult | Person>();
    for (const contact of contacts) await groups.make(contact.groups, signal);
    let left = contacts;
    while (left.length > 0) {
      const people = left.map((contact) => ({ contactPerson: personOf(contact, groups.resourcesOf(contact)) }));
      const { status, json } = await askJson(
        web,
        {
          method: 'POST',
          url: below(web, 'v1/people:batchCreateContacts'),
          json: { contacts: people, readMask: COMPARED_FIELDS, sources: ['READ_SOURCE_TYPE_CONTACT'] },
          repeatable: false,
        },
        signal,
      );
      if (status === 200) {
        for (const [contact, result] of createdOf(left, fitting(web, Created, json))) outcome.set(contact, result);
        return outcome;
      }
      const blamed = status === 400 ? blamedOf(left, json) : [];
      if (blamed.length === 0) throw refusalOf(web, status);
      for (const contact of blamed)
        outcome.set(contact, { outcome: 'skipped', reason: 'Google refused this contact (400).' });
      left = left.filter((contact) => !outcome.has(contact));
    }
    return outcome;
  };

  const setPhoto = async (person: string, { photo }: Contact, signal: AbortSignal): Promise<string[]> => {
    if (photo === undefined) return [];
    const request = {
      method: 'PATCH',
      url: below(web, `v1/${person}:updateContactPhoto`),
      json: { photoBytes: Buffer.from(photo.bytes).toString('base64') },
      repeatable: true,
    };
    return putPhoto(() => askJson(web, request, signal));
  };

  return {
    batchSize: CONTACTS_AT_ONCE,
    existing: (signal) => connections(web, signal),
    async write(contacts, signal) {
      const created = await create(contacts, signal);
      const results: WriteResult[] = [];
      for (const contact of contacts) {
        const result = created.get(contact);
        if (result === undefined) throw new ContactStoreError('unavailable', 'Google did not say what it created');
        if ('outcome' in result) results.push(result);
        else {
          const photo = await setPhoto(result.resourceName, contact, signal);
          const notes = [...unheldNote(contact), ...groups.notesOn(contact), ...photo];
          results.push({ outcome: 'written', notes });
        }
      }
      return results;
    },
    complete: async (existing, contact, signal) =>
      existing.hasPhoto === false ? setPhoto(existing.id, contact, signal) : [],
  };
}

async function* connections(web: Web, signal: AbortSignal): AsyncIterable<ExistingContact> {
  let token = '';
  for (let page = 0; page < PAGES_AT_MOST; page += 1) {
    const url = below(web, 'v1/people/me/connections');
    url.searchParams.set('personFields', COMPARED_FIELDS);
    url.searchParams.set('pageSize', String(PAGE));
    if (token !== '') url.searchParams.set('pageToken', token);
    const answer = await getJson(web, { method: 'GET', url, repeatable: true }, Connections, signal);
    yield* answer.connections.map(existingOf);
    token = answer.nextPageToken;
    if (token === '') return;
  }
  throw new ContactStoreError('unexpected', `${web.base.host} lists more than ${PAGES_AT_MOST} pages of contacts`);
}

/** By the UID that came back, else by place. */
function createdOf(
  contacts: readonly Contact[],
  { createdPeople }: v.InferOutput<typeof Created>,
): Map<Contact, WriteResult | Person> {
  const byUid = new Map(
    createdPeople.flatMap(({ person }) =>
      person === undefined || uidOf(person) === '' ? [] : [[uidOf(person), person]],
    ),
  );
  const results = new Map<Contact, WriteResult | Person>();
  for (const [at, contact] of contacts.entries()) {
    const answer = createdPeople[at];
    const person = byUid.get(contact.uid) ?? answer?.person;
    if (person !== undefined) results.set(contact, person);
    else if (answer !== undefined && answer.httpStatusCode >= 400)
      results.set(contact, { outcome: 'skipped', reason: `Google refused this contact (${answer.httpStatusCode}).` });
  }
  return results;
}

function blamedOf(contacts: readonly Contact[], json: unknown): Contact[] {
  const result = v.safeParse(BatchError, json);
  if (!result.success) return [];
  const places = result.output.error.details.flatMap(({ contactErrors }) => Object.keys(contactErrors).map(Number));
  return [...new Set(places)].flatMap((at) => contacts[at] ?? []);
}

/** The account's own groups by name; one that isn't there is made. `null`: Google does not want a group of this name. */
class GroupNames {
  readonly #web: Web;
  #known: Map<string, string | null> | undefined;

  constructor(web: Web) {
    this.#web = web;
  }

  async make(names: readonly string[], signal: AbortSignal): Promise<void> {
    if (names.length === 0) return;
    const known = (this.#known ??= await this.#list(signal));
    for (const name of names) if (!known.has(keyOf(name))) known.set(keyOf(name), await this.#make(name, signal));
  }

  resourcesOf(contact: Contact): string[] {
    const resources = contact.groups.map((name) => this.#known?.get(keyOf(name)) ?? '');
    return [...new Set(resources)].filter((resource) => resource !== '');
  }

  notesOn(contact: Contact): string[] {
    const refused = contact.groups.filter((name) => this.#known?.get(keyOf(name)) === null);
    return refused.length === 0 ? [] : [`groups that could not be made: ${refused.join(', ')}`];
  }

  async #list(signal: AbortSignal): Promise<Map<string, string | null>> {
    const known = new Map<string, string | null>();
    let token = '';
    do {
      const url = below(this.#web, 'v1/contactGroups');
      url.searchParams.set('pageSize', String(PAGE));
      if (token !== '') url.searchParams.set('pageToken', token);
      const page = await getJson(this.#web, { method: 'GET', url, repeatable: true }, Groups, signal);
      for (const { name, resourceName, groupType } of page.contactGroups)
        if (groupType !== 'SYSTEM_CONTACT_GROUP') known.set(keyOf(name), resourceName);
      token = page.nextPageToken;
    } while (token !== '' && known.size < PAGE * PAGES_AT_MOST);
    return known;
  }

  async #make(name: string, signal: AbortSignal): Promise<string | null> {
    const request = {
      method: 'POST',
      url: below(this.#web, 'v1/contactGroups'),
      json: { contactGroup: { name } },
      // A name is taken once only (409), so a repeated request makes no second group.
      repeatable: true,
    };
    const { status, json } = await askJson(this.#web, request, signal);
    if (status === 200) return fitting(this.#web, Group, json).resourceName;
    if (status === 409) return (await this.#list(signal)).get(keyOf(name)) ?? null;
    if (status === 400) return null;
    throw refusalOf(this.#web, status);
  }
}

function keyOf(name: string): string {
  return name.trim().toLowerCase();
}
