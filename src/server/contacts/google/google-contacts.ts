import * as v from 'valibot';
import {
  changedAllTheTime,
  ContactStoreError,
  isOfOne,
  type ContactGroup,
  type ContactWriter,
  type ExistingContact,
  type FillResult,
  type WriteResult,
} from '../contact-store.ts';
import type { Contact } from '../contact.ts';
import { fillingFor } from '../fill.ts';
import { askJson, below, fitting, isGone, jsonRefusals, pagesOf, refusalOf, type JsonAnswer } from '../json-web.ts';
import type { Part } from '../parts.ts';
import { putPhoto, staysOf } from '../photo-note.ts';
import { refusedNote, spillNotes, stayNote, strangersNote } from '../remarks.ts';
import type { Web } from '../web.ts';
import { COMPARED_FIELDS, existingOf, filledPerson, Person, personOf, uidOf } from './google-person.ts';

/**
 * Exceeded quotas, which Google answers with 429 or 403, pass by themselves, by tomorrow at the latest. A full account does
 * not. Any other 403 is about permissions.
 */
export const GOOGLE_REFUSALS = jsonRefusals(
  new Set([
    'rateLimitExceeded',
    'userRateLimitExceeded',
    'quotaExceeded',
    'dailyLimitExceeded',
    'RATE_LIMIT_EXCEEDED',
    'RESOURCE_EXHAUSTED',
  ]),
  new Set(['MY_CONTACTS_OVERFLOW_COUNT']),
);

/** How often a contact is read and filled again when somebody else changes it at the same time. */
const FILL_TRIES = 4;

/** `people.batchCreateContacts` takes no more. */
const CONTACTS_AT_ONCE = 200;
/** People and groups on a page of a listing, at most as documented. */
const PAGE = 1_000;

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
/** `BatchCreateContactsErrorDetails`: the indexes of the contacts that made the whole batch fail. */
const BatchError = v.object({
  error: v.object({
    details: v.array(v.looseObject({ contactErrors: v.optional(v.record(v.string(), v.unknown()), {}) })),
  }),
});

/** Writes through People API v1, one change at a time as Google demands. */
export function googleWriter(web: Web): ContactWriter {
  const groups = new GroupNames(web);

  /**
   * A batch is created as a whole or not at all: the contacts that Google blames are skipped, and the rest is sent
   * again.
   */
  const create = async (
    contacts: readonly Contact[],
    signal: AbortSignal,
  ): Promise<Map<Contact, WriteResult | Person>> => {
    const outcome = new Map<Contact, WriteResult | Person>();
    for (const contact of contacts) await groups.make(contact.groups, signal);
    let left = contacts;
    while (left.length > 0) {
      const people = left.map((contact) => ({ contactPerson: personOf(contact, groups.resourcesOf(contact)).fields }));
      const answer = await askJson(
        web,
        {
          method: 'POST',
          url: below(web, 'v1/people:batchCreateContacts'),
          json: { contacts: people, readMask: COMPARED_FIELDS, sources: ['READ_SOURCE_TYPE_CONTACT'] },
          repeatable: false,
        },
        signal,
      );
      if (answer.status === 200) {
        for (const [contact, result] of createdOf(left, fitting(web, Created, answer.json)))
          outcome.set(contact, result);
        return outcome;
      }
      const blamed = answer.status === 400 ? blamedOf(left, answer.json) : [];
      if (blamed.length === 0) throw refusalOf(web, answer);
      for (const contact of blamed)
        outcome.set(contact, { outcome: 'skipped', reason: 'Google refused this contact (400).' });
      left = left.filter((contact) => !outcome.has(contact));
    }
    return outcome;
  };

  const fill = async (existing: ExistingContact, contact: Contact, signal: AbortSignal): Promise<FillResult> => {
    const url = below(web, `v1/${existing.id}`);
    url.searchParams.set('personFields', `${COMPARED_FIELDS},metadata`);
    const answer = await askJson(web, { method: 'GET', url, repeatable: true }, signal);
    if (isGone(answer)) return { outcome: 'gone' };
    if (answer.status !== 200) throw refusalOf(web, answer);
    const person = fitting(web, Person, answer.json);
    const { add, added, stays } = fillingFor(existingOf(person, groups.nameOf), contact);
    const toSet = added.filter((part) => part !== 'photo');
    await groups.make(add.groups, signal);
    const fields = toSet.length === 0 ? {} : filledPerson(person, add, groups.resourcesOf(add));
    const updated = await updatePerson(web, person, fields, signal);
    if (updated === 'gone') return { outcome: 'gone' };
    const refused = typeof updated === 'number';
    const photo = await setPhoto(web, existing.id, add, signal);
    const notes = [...stayNote(stays), ...(refused ? [refusedNote(updated)] : []), ...groups.notesOn(add), ...photo];
    const isFilled = updated === 'set' || (add.photo !== undefined && photo.length === 0);
    return {
      outcome: isFilled ? 'filled' : 'whole',
      stays: [...stays, ...(refused ? toSet : []), ...groups.refusedOf(add), ...staysOf(photo)],
      notes,
    };
  };

  const notesOn = (contact: Contact) => [...spillNotes(personOf(contact, []).spill), ...groups.notesOn(contact)];

  return {
    batchSize: CONTACTS_AT_ONCE,
    notesOn,
    async *existing(signal) {
      await groups.list(signal);
      yield* connections(web, groups.nameOf, signal);
    },
    async write(contacts, signal) {
      const created = await create(contacts, signal);
      const results: WriteResult[] = [];
      for (const contact of contacts) {
        const result = created.get(contact);
        if (result === undefined) throw new ContactStoreError('unavailable', 'Google did not say what it created');
        if ('outcome' in result) results.push(result);
        else {
          const photo = await setPhoto(web, result.resourceName, contact, signal);
          const notes = [...notesOn(contact), ...photo];
          results.push({ outcome: 'written', notes, stays: [...groups.refusedOf(contact), ...staysOf(photo)] });
        }
      }
      return results;
    },
    async fill(existing, contact, signal) {
      for (let attempt = 1; attempt <= FILL_TRIES; attempt += 1) {
        try {
          return await fill(existing, contact, signal);
        } catch (error) {
          if (!(error instanceof Conflict)) throw error;
        }
      }
      throw changedAllTheTime(web.base.host);
    },
    async group(group, signal) {
      await groups.make([group.name], signal);
      return [...groups.notesOn({ groups: [group.name] }), ...notesOfGroup(group)];
    },
  };
}

/** @returns remarks on a photo that did not get there */
async function setPhoto(web: Web, person: string, { photo }: Contact, signal: AbortSignal): Promise<string[]> {
  if (photo === undefined) return [];
  const request = {
    method: 'PATCH',
    url: below(web, `v1/${person}:updateContactPhoto`),
    json: { photoBytes: Buffer.from(photo.bytes).toString('base64') },
    repeatable: true,
  };
  return putPhoto(() => askJson(web, request, signal));
}

/** @returns the status as a number where Google refuses it. @throws {Conflict} */
async function updatePerson(
  web: Web,
  person: Person,
  fields: ReturnType<typeof filledPerson>,
  signal: AbortSignal,
): Promise<'set' | 'nothing' | 'gone' | number> {
  const mask = Object.keys(fields).join(',');
  if (mask === '') return 'nothing';
  const url = below(web, `v1/${person.resourceName}:updateContact`);
  url.searchParams.set('updatePersonFields', mask);
  const sources = person.metadata?.sources.filter(({ type }) => type === 'CONTACT');
  const json = { etag: person.etag, ...(sources === undefined ? {} : { metadata: { sources } }), ...fields };
  const answer = await askJson(web, { method: 'PATCH', url, json, repeatable: true }, signal);
  if (isConflict(answer)) throw new Conflict();
  if (answer.status === 200) return 'set';
  if (isGone(answer)) return 'gone';
  const refusal = refusalOf(web, answer);
  if (refusal.fault !== 'refused') throw refusal;
  return answer.status;
}

/** Somebody has changed the contact since it was read. */
class Conflict extends Error {
  override name = 'Conflict';
}

function isConflict({ status, reason }: JsonAnswer): boolean {
  return status === 412 || (status === 400 && reason?.replaceAll('_', '').toLowerCase() === 'failedprecondition');
}

function notesOfGroup({ notes, strangers }: ContactGroup): string[] {
  return [
    ...(notes.trim() === '' ? [] : ['Groups have no notes there, so the notes of this one were left out.']),
    ...strangersNote(strangers),
  ];
}

async function* connections(
  web: Web,
  groupName: (resource: string) => string | undefined,
  signal: AbortSignal,
): AsyncIterable<ExistingContact> {
  const first = below(web, 'v1/people/me/connections');
  first.searchParams.set('personFields', COMPARED_FIELDS);
  for await (const { connections: people } of googlePages(web, first, Connections, signal))
    yield* people.map((person) => existingOf(person, groupName));
}

function googlePages<const Schema extends v.GenericSchema<unknown, { readonly nextPageToken: string }>>(
  web: Web,
  first: URL,
  schema: Schema,
  signal: AbortSignal,
): AsyncIterable<v.InferOutput<Schema>> {
  first.searchParams.set('pageSize', String(PAGE));
  const next = ({ nextPageToken }: { readonly nextPageToken: string }) => {
    const url = new URL(first);
    url.searchParams.set('pageToken', nextPageToken);
    return nextPageToken === '' ? null : url;
  };
  return pagesOf(web, first, schema, next, signal);
}

/** Matched by the UID returned, or by index if none was: a person created for another contact is never used. */
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
    const there = answer?.person;
    const person = byUid.get(contact.uid) ?? (there === undefined || uidOf(there) !== '' ? undefined : there);
    if (person !== undefined) results.set(contact, person);
    else if (answer !== undefined && isRefusal(answer.httpStatusCode))
      results.set(contact, { outcome: 'skipped', reason: `Google refused this contact (${answer.httpStatusCode}).` });
  }
  return results;
}

/** Requests whose status is not about the contact itself are repeated. */
function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 429;
}

function blamedOf(contacts: readonly Contact[], json: unknown): Contact[] {
  const result = v.safeParse(BatchError, json);
  if (!result.success) return [];
  const places = result.output.error.details.flatMap(({ contactErrors }) => Object.keys(contactErrors).map(Number));
  return [...new Set(places)].flatMap((at) => contacts[at] ?? []);
}

/** Of Google's own groups, only these take members (`contactGroups.members.modify`); its exports name them as categories. */
const JOINABLE: ReadonlySet<string> = new Set(['contactGroups/myContacts', 'contactGroups/starred']);

/** The account's own groups by name, created if missing. `null`: Google refuses a group of this name. */
class GroupNames {
  readonly #web: Web;
  #known: Map<string, string | null> | undefined;
  readonly #names = new Map<string, string>();

  constructor(web: Web) {
    this.#web = web;
  }

  /** The name of a group that can be joined. */
  readonly nameOf = (resource: string): string | undefined => this.#names.get(resource);

  async make(names: readonly string[], signal: AbortSignal): Promise<void> {
    if (names.length > 0 && this.#known === undefined) await this.list(signal);
    for (const name of names)
      if (this.#known?.has(keyOf(name)) !== true) {
        const resource = await this.#make(name, signal);
        this.#known?.set(keyOf(name), resource);
      }
  }

  resourcesOf(contact: Pick<Contact, 'groups'>): string[] {
    const resources = contact.groups.map((name) => this.#known?.get(keyOf(name)) ?? '');
    return [...new Set(resources)].filter((resource) => resource !== '');
  }

  refusedOf(contact: Pick<Contact, 'groups'>): Part[] {
    return this.notesOn(contact).length === 0 ? [] : ['group'];
  }

  notesOn({ groups }: Pick<Contact, 'groups'>): string[] {
    const refused = groups.filter((name) => this.#known?.get(keyOf(name)) === null);
    return refused.length === 0 ? [] : ['A group of this contact could not be made there.'];
  }

  async list(signal: AbortSignal): Promise<Map<string, string | null>> {
    const known = new Map<string, string | null>();
    for await (const page of googlePages(this.#web, below(this.#web, 'v1/contactGroups'), Groups, signal))
      for (const { name, resourceName, groupType } of page.contactGroups)
        if (groupType !== 'SYSTEM_CONTACT_GROUP' || JOINABLE.has(resourceName)) {
          known.set(keyOf(name), resourceName);
          this.#names.set(resourceName, name);
        }
    // Google refused these before, and would again.
    for (const [name, resource] of this.#known ?? []) if (resource === null && !known.has(name)) known.set(name, null);
    this.#known = known;
    return known;
  }

  async #make(name: string, signal: AbortSignal): Promise<string | null> {
    const request = {
      method: 'POST',
      url: below(this.#web, 'v1/contactGroups'),
      json: { contactGroup: { name } },
      // A name can be used only once (409), so a repeated request makes no second group.
      repeatable: true,
    };
    const answer = await askJson(this.#web, request, signal).catch(unlessOfOne);
    if (answer === null) return null;
    if (answer.status === 200) {
      const { resourceName } = fitting(this.#web, Group, answer.json);
      this.#names.set(resourceName, name);
      return resourceName;
    }
    if (answer.status === 409) return (await this.list(signal)).get(keyOf(name)) ?? null;
    const refusal = refusalOf(this.#web, answer);
    if (refusal.fault === 'refused') return null;
    throw refusal;
  }
}

/** A group at which Google fails must not keep its contacts from arriving. */
function unlessOfOne(error: unknown): null {
  if (error instanceof ContactStoreError && isOfOne(error)) return null;
  throw error;
}

function keyOf(name: string): string {
  return name.trim().toLowerCase();
}
