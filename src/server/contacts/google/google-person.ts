import * as v from 'valibot';
import type { Contact, Labelled } from '../../../contract/contact.ts';
import type { ExistingContact } from '../contact-store.ts';

/** Where a person of ours keeps the `uid` of the contact it was written for, in `clientData`. */
const UID_KEY = 'sanBrunoTransferUid';

/** The fields that are asked for to compare. */
export const COMPARED_FIELDS = 'names,emailAddresses,phoneNumbers,organizations,photos,clientData';

const values = v.optional(v.array(v.object({ value: v.optional(v.string(), '') })), []);
/** The part of a Person (People API v1) that is compared. */
export const Person = v.object({
  resourceName: v.pipe(v.string(), v.regex(/^people\/[\w-]{1,256}$/)),
  names: v.optional(
    v.array(
      v.object({
        displayName: v.optional(v.string(), ''),
        givenName: v.optional(v.string(), ''),
        familyName: v.optional(v.string(), ''),
      }),
    ),
    [],
  ),
  emailAddresses: values,
  phoneNumbers: values,
  organizations: v.optional(v.array(v.object({ name: v.optional(v.string(), '') })), []),
  photos: v.optional(v.array(v.object({ default: v.optional(v.boolean(), false) })), []),
  clientData: v.optional(v.array(v.object({ key: v.optional(v.string(), ''), value: v.optional(v.string(), '') })), []),
});
export type Person = v.InferOutput<typeof Person>;

export function existingOf(person: Person): ExistingContact {
  const names = person.names.flatMap(({ displayName, givenName, familyName }) => [
    displayName,
    `${givenName} ${familyName}`,
  ]);
  return {
    id: person.resourceName,
    uid: uidOf(person),
    names: names.length > 0 ? names : person.organizations.map(({ name }) => name),
    emails: person.emailAddresses.map(({ value }) => value),
    phones: person.phoneNumbers.map(({ value }) => value),
    // Google draws a default picture for everybody.
    hasPhoto: person.photos.some((photo) => !photo.default),
  };
}

export function uidOf(person: Person): string {
  return person.clientData.find(({ key }) => key === UID_KEY)?.value ?? '';
}

const PHONE_TYPES: ReadonlyMap<string, string> = new Map([
  ['home fax', 'homeFax'],
  ['work fax', 'workFax'],
  ['fax', 'otherFax'],
  ['work mobile', 'workMobile'],
]);

/**
 * A contact as People API v1 creates it. Names, biographies and birthdays are single; the photo goes by its own call.
 * @param groups the resource names of its groups
 */
export function personOf(contact: Contact, groups: readonly string[]): Record<string, unknown> {
  const { organization } = contact;
  const person = {
    names: namesOf(contact),
    nicknames: contact.nickname === '' ? [] : [{ value: contact.nickname }],
    emailAddresses: contact.emails.map(typed),
    phoneNumbers: contact.phones.map(({ label, value }) => ({ value, ...typeOf(PHONE_TYPES.get(label) ?? label) })),
    addresses: contact.addresses.map(({ label, value }) => ({
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
    urls: contact.websites.map(typed),
    organizations: Object.values(organization).some((part) => part !== '') ? [present(organization)] : [],
    birthdays: contact.birthday === '' ? [] : [{ date: dateOf(contact.birthday) }],
    biographies: contact.notes === '' ? [] : [{ value: contact.notes, contentType: 'TEXT_PLAIN' }],
    memberships: ['contactGroups/myContacts', ...groups].map((contactGroupResourceName) => ({
      contactGroupMembership: { contactGroupResourceName },
    })),
    clientData: [{ key: UID_KEY, value: contact.uid }],
  };
  return Object.fromEntries(Object.entries(person).filter(([, entries]) => entries.length > 0));
}

function typed({ label, value }: Labelled<string>): Record<string, string> {
  return { value, ...typeOf(label) };
}

function namesOf({ name, organization }: Contact): Record<string, string>[] {
  const parts = present({
    honorificPrefix: name.prefix,
    givenName: name.given,
    middleName: name.middle,
    familyName: name.family,
    honorificSuffix: name.suffix,
  });
  if (Object.keys(parts).length > 0) return [parts];
  return name.formatted === '' || name.formatted === organization.name ? [] : [{ unstructuredName: name.formatted }];
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
