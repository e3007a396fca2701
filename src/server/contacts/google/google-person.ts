import * as v from 'valibot';
import type { ExistingContact } from '../contact-store.ts';
import { BLANK_CONTACT, type Contact, type Labelled, type Organization, type PostalAddress } from '../contact.ts';
import { hasOwnDisplayName, organizationsOf } from '../parts.ts';
import { placed } from '../places.ts';
import { Spill } from '../spill.ts';

/** The `clientData` key under which a person that we wrote keeps the `uid` of its contact. */
const UID_KEY = 'sanBrunoTransferUid';

/** The fields that are compared, and filled where they are empty. */
export const COMPARED_FIELDS =
  'names,fileAses,nicknames,emailAddresses,phoneNumbers,addresses,urls,organizations,occupations,birthdays,events,imClients,relations,genders,biographies,memberships,userDefined,photos,clientData';

const text = v.optional(v.string(), '');
const source = v.optional(v.looseObject({ source: v.optional(v.looseObject({ type: text })) }));
const many = <const Entries extends v.ObjectEntries>(entries: Entries) =>
  v.optional(v.array(v.looseObject({ ...entries, metadata: source })), []);
const date = v.optional(
  v.object({ year: v.optional(v.number(), 0), month: v.optional(v.number(), 0), day: v.optional(v.number(), 0) }),
);
/** The fields of a Person (People API v1) that are compared; entries keep any other properties. */
export const Person = v.object({
  resourceName: v.pipe(v.string(), v.regex(/^people\/[\w-]{1,256}$/)),
  etag: text,
  metadata: v.optional(v.looseObject({ sources: v.optional(v.array(v.looseObject({ type: text })), []) })),
  names: many({
    displayName: text,
    honorificPrefix: text,
    givenName: text,
    middleName: text,
    familyName: text,
    honorificSuffix: text,
    phoneticGivenName: text,
    phoneticMiddleName: text,
    phoneticFamilyName: text,
  }),
  fileAses: many({ value: text }),
  nicknames: many({ value: text }),
  emailAddresses: many({ value: text, type: text }),
  phoneNumbers: many({ value: text, type: text }),
  addresses: many({
    type: text,
    poBox: text,
    extendedAddress: text,
    streetAddress: text,
    city: text,
    region: text,
    postalCode: text,
    country: text,
  }),
  urls: many({ value: text, type: text }),
  organizations: many({ name: text, department: text, title: text }),
  occupations: many({ value: text }),
  birthdays: many({ date }),
  events: many({ date, type: text }),
  imClients: many({ username: text, protocol: text }),
  relations: many({ person: text, type: text }),
  genders: many({ value: text }),
  biographies: many({ value: text }),
  memberships: many({
    contactGroupMembership: v.optional(v.looseObject({ contactGroupResourceName: text })),
  }),
  userDefined: many({ key: text, value: text }),
  photos: many({ default: v.optional(v.boolean(), false) }),
  clientData: many({ key: text, value: text }),
});
export type Person = v.InferOutput<typeof Person>;
type Field = Exclude<keyof Person, 'resourceName' | 'etag' | 'metadata'>;
/** The body of a request, by field. */
export type PersonFields = Partial<Record<Field, readonly Record<string, unknown>[]>>;

function labelled<Entry extends { type: string }>(
  entries: readonly Entry[],
  value: (entry: Entry) => string,
): Labelled<string>[] {
  return entries.map((entry) => ({ label: entry.type, value: value(entry) }));
}

/** @param groupName the name of a group by its resource name */
export function existingOf(person: Person, groupName: (resource: string) => string | undefined): ExistingContact {
  const [name] = person.names;
  const [organization = BLANK_CONTACT.organization, ...otherOrganizations] = person.organizations.map(organizationOf);
  return {
    id: person.resourceName,
    uid: uidOf(person),
    contact: {
      ...BLANK_CONTACT,
      name: {
        formatted: person.fileAses[0]?.value || (name?.displayName ?? ''),
        prefix: name?.honorificPrefix ?? '',
        given: name?.givenName ?? '',
        middle: name?.middleName ?? '',
        family: name?.familyName ?? '',
        suffix: name?.honorificSuffix ?? '',
      },
      phonetic: {
        given: name?.phoneticGivenName ?? '',
        middle: name?.phoneticMiddleName ?? '',
        family: name?.phoneticFamilyName ?? '',
      },
      nickname: person.nicknames.map(({ value }) => value).join(', '),
      emails: labelled(person.emailAddresses, ({ value }) => value),
      phones: person.phoneNumbers.map(({ type, value }) => ({ label: LABELS_OF_PHONE_TYPES.get(type) ?? type, value })),
      addresses: person.addresses.map((address) => ({ label: address.type, value: addressOf(address) })),
      websites: labelled(person.urls, ({ value }) => value),
      organization,
      otherOrganizations,
      role: person.occupations[0]?.value ?? '',
      birthday: dayOf(person.birthdays[0]?.date),
      dates: labelled(person.events, (event) => dayOf(event.date)),
      messengers: person.imClients.map(({ protocol, username }) => ({ label: protocol, value: username })),
      relations: labelled(person.relations, ({ person: relative }) => relative),
      gender: person.genders[0]?.value ?? '',
      notes: person.biographies.map(({ value }) => value).join('\n'),
      groups: person.memberships.flatMap(
        ({ contactGroupMembership }) => groupName(contactGroupMembership?.contactGroupResourceName ?? '') ?? [],
      ),
      more: person.userDefined.map(({ key, value }) => ({ label: key, value })),
    },
    // Google draws a default picture for everybody.
    hasPhoto: person.photos.some((photo) => !photo.default),
  };
}

export function uidOf(person: Person): string {
  return person.clientData.find(({ key }) => key === UID_KEY)?.value ?? '';
}

function organizationOf({ name, department, title }: Organization): Organization {
  return { name, department, title };
}

function addressOf(address: Person['addresses'][number]): PostalAddress {
  const { poBox, city, region, postalCode, country } = address;
  return {
    poBox,
    extended: address.extendedAddress,
    street: address.streetAddress,
    city,
    region,
    postalCode,
    country,
  };
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}

/** `--MM-DD` without a year; `''` without a day. */
function dayOf(day: { year: number; month: number; day: number } | undefined): string {
  if (day === undefined || day.month === 0 || day.day === 0) return '';
  const year = day.year === 0 ? '-' : String(day.year).padStart(4, '0');
  return `${year}-${two(day.month)}-${two(day.day)}`;
}

const PHONE_TYPES: ReadonlyMap<string, string> = new Map([
  ['home fax', 'homeFax'],
  ['work fax', 'workFax'],
  ['fax', 'otherFax'],
  ['work mobile', 'workMobile'],
]);
const LABELS_OF_PHONE_TYPES: ReadonlyMap<string, string> = new Map(
  [...PHONE_TYPES].map(([label, type]) => [type, label]),
);

/**
 * A contact as People API v1 creates it; `spill` has what goes into its notes. Names, biographies, birthdays and genders
 * are single; the photo has a call of its own.
 * @param groups the resource names of its groups
 */
export function personOf(contact: Contact, groups: readonly string[]): { fields: PersonFields; spill: Spill } {
  const { fits, left } = placed(contact, 'google');
  const spill = new Spill();
  spill.add(left);
  const notes = spill.below(fits.notes);
  const fields: PersonFields = {
    names: namesOf(fits),
    fileAses: hasOwnDisplayName(fits) && hasPieces(fits) ? [{ value: fits.name.formatted }] : [],
    nicknames: fits.nickname === '' ? [] : [{ value: fits.nickname }],
    emailAddresses: fits.emails.map(typed),
    phoneNumbers: fits.phones.map(({ label, value }) => ({ value, ...typeOf(PHONE_TYPES.get(label) ?? label) })),
    addresses: fits.addresses.map(({ label, value }) => ({
      ...typeOf(label),
      ...present({
        poBox: value.poBox,
        extendedAddress: value.extended,
        streetAddress: value.street,
        city: value.city,
        region: value.region,
        postalCode: value.postalCode,
        country: value.country,
      }),
    })),
    urls: fits.websites.map(typed),
    organizations: organizationsOf(fits).map((organization) => present(organization)),
    occupations: fits.role === '' ? [] : [{ value: fits.role }],
    birthdays: fits.birthday === '' ? [] : [{ date: dateOf(fits.birthday) }],
    events: fits.dates.map(({ label, value }) => ({ date: dateOf(value), ...typeOf(label) })),
    imClients: fits.messengers.map(({ label, value }) => ({
      username: value,
      ...(label === '' ? {} : { protocol: label }),
    })),
    relations: fits.relations.map(({ label, value }) => ({ person: value, ...typeOf(label) })),
    genders: fits.gender === '' ? [] : [{ value: fits.gender }],
    biographies: notes === '' ? [] : [{ value: notes, contentType: 'TEXT_PLAIN' }],
    memberships: [...new Set(['contactGroups/myContacts', ...groups])].map((contactGroupResourceName) => ({
      contactGroupMembership: { contactGroupResourceName },
    })),
    userDefined: fits.more.map(({ label, value }) => ({ key: label, value })),
    clientData: [{ key: UID_KEY, value: contact.uid }],
  };
  return {
    fields: Object.fromEntries(Object.entries(fields).filter(([, entries]) => entries.length > 0)),
    spill,
  };
}

/** Fields with a single entry per contact: a missing piece is added to the existing entry. */
const SINGLETONS: ReadonlySet<Field> = new Set(['names', 'biographies', 'birthdays', 'genders'] as const);

/**
 * The fields of a person with what is missing added; existing entries stay unchanged.
 * @param add `fillingFor` of this person
 */
export function filledPerson(person: Person, add: Contact, groups: readonly string[]): PersonFields {
  const { fields } = personOf(add, groups);
  const filled: PersonFields = {};
  for (const [field, entries] of Object.entries(fields) as [Field, readonly Record<string, unknown>[]][]) {
    if (field === 'clientData' || (field === 'memberships' && groups.length === 0)) continue;
    const there = person[field].filter(({ metadata }) => (metadata?.source?.type ?? 'CONTACT') === 'CONTACT');
    const plain = there.map((entry) => Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== '')));
    filled[field] = SINGLETONS.has(field) ? [oneOf(field, plain[0], entries[0])] : joined(field, plain, entries);
  }
  return filled;
}

function oneOf(
  field: Field,
  there: Record<string, unknown> | undefined,
  add: Record<string, unknown> = {},
): Record<string, unknown> {
  if (there === undefined) return add;
  if (field === 'biographies')
    return {
      ...there,
      value: [there['value'], add['value']].filter((value) => typeof value === 'string').join('\n\n'),
    };
  if (field !== 'names') return { ...add, ...there };
  // Google derives both from the pieces.
  const { displayName: _display, displayNameLastFirst: _last, unstructuredName: _whole, ...pieces } = there;
  return { ...add, ...pieces };
}

function joined(
  field: Field,
  there: readonly Record<string, unknown>[],
  add: readonly Record<string, unknown>[],
): Record<string, unknown>[] {
  if (field !== 'organizations') {
    const groups = new Set(there.map(groupResourceOf));
    return [
      ...there,
      ...add.filter((entry) => (groupResourceOf(entry) ?? '') === '' || !groups.has(groupResourceOf(entry))),
    ];
  }
  const rest = new Set(add);
  const byName = Map.groupBy(add, ({ name }) => name);
  const places = new Map([...byName].map(([name, jobs]) => [name, jobs.values()]));
  const filled = there.map((organization) => {
    const missing = places.get(organization['name'])?.next().value;
    if (missing !== undefined) rest.delete(missing);
    return { ...missing, ...organization };
  });
  return [...filled, ...rest];
}

function groupResourceOf({ contactGroupMembership: group }: Record<string, unknown>): string | undefined {
  return (group as { contactGroupResourceName?: string } | undefined)?.contactGroupResourceName;
}

function typed({ label, value }: Labelled<string>): Record<string, string> {
  return { value, ...typeOf(label) };
}

function hasPieces({ name }: Contact): boolean {
  return [name.prefix, name.given, name.middle, name.family, name.suffix].some((piece) => piece !== '');
}

function namesOf(contact: Contact): Record<string, string>[] {
  const { name, phonetic } = contact;
  const parts = present({
    honorificPrefix: name.prefix,
    givenName: name.given,
    middleName: name.middle,
    familyName: name.family,
    honorificSuffix: name.suffix,
    phoneticGivenName: phonetic.given,
    phoneticMiddleName: phonetic.middle,
    phoneticFamilyName: phonetic.family,
  });
  if (hasPieces(contact)) return [parts];
  if (name.formatted === '' || name.formatted === contact.organization.name)
    return Object.keys(parts).length === 0 ? [] : [parts];
  return [{ unstructuredName: name.formatted, ...parts }];
}

function present(texts: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''));
}

function typeOf(label: string): { type?: string } {
  return label === '' ? {} : { type: label };
}

/** `--MM-DD` has no year. */
function dateOf(birthday: string): Record<string, number> {
  const [day, month, year] = birthday.split('-').toReversed().map(Number);
  return { ...(year === undefined || year === 0 ? {} : { year }), month: month ?? 0, day: day ?? 0 };
}
