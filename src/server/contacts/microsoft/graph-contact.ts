import * as v from 'valibot';
import type { ExistingContact } from '../contact-store.ts';
import { BLANK_CONTACT, type Contact, type Labelled, type PostalAddress } from '../contact.ts';
import { dayInWords, envelopeOf, isInOutlook, ItemIndex, itemsOf, type Part } from '../parts.ts';
import { placed } from '../places.ts';
import { Spill } from '../spill.ts';
import { displayNameOf } from '../vcard/read-vcard.ts';

/** Outlook's limit. */
const EMAILS_AT_MOST = 3;
const MESSENGERS_AT_MOST = 3;
const PHONES_AT_MOST = { mobile: 1, home: 2, business: 2 } as const;

/** A MAPI property of our own that keeps the `uid` of the contact it was written for. */
export const UID_PROPERTY = 'String {6f1f3c0e-6a53-4a8e-9a55-7d5d0f4f2f0b} Name SanBrunoTransferUid';
export const COMPARED_FIELDS =
  'id,displayName,title,givenName,middleName,surname,generation,nickName,yomiGivenName,yomiSurname,companyName,department,jobTitle,profession,emailAddresses,mobilePhone,homePhones,businessPhones,homeAddress,businessAddress,otherAddress,businessHomePage,birthday,imAddresses,spouseName,children,assistantName,manager,categories,personalNotes';

const text = v.optional(v.nullish(v.string(), ''), '');
const texts = v.optional(v.nullish(v.array(v.string()), []), []);
const address = v.optional(
  v.nullish(v.object({ street: text, city: text, state: text, postalCode: text, countryOrRegion: text })),
);
/** The fields of a Graph v1.0 contact that are compared. */
export const GraphContact = v.object({
  '@odata.etag': text,
  id: v.pipe(v.string(), v.regex(/^[!-~]{1,1024}$/)),
  displayName: text,
  title: text,
  givenName: text,
  middleName: text,
  surname: text,
  generation: text,
  nickName: text,
  yomiGivenName: text,
  yomiSurname: text,
  companyName: text,
  department: text,
  jobTitle: text,
  profession: text,
  emailAddresses: v.optional(v.nullish(v.array(v.looseObject({ address: text })), []), []),
  mobilePhone: text,
  homePhones: texts,
  businessPhones: texts,
  homeAddress: address,
  businessAddress: address,
  otherAddress: address,
  businessHomePage: text,
  birthday: text,
  imAddresses: texts,
  spouseName: text,
  children: texts,
  assistantName: text,
  manager: text,
  categories: texts,
  personalNotes: text,
  singleValueExtendedProperties: v.optional(v.array(v.object({ id: v.string(), value: text })), []),
});
export type GraphContact = v.InferOutput<typeof GraphContact>;

function one(label: string, value: string): Labelled<string>[] {
  return value === '' ? [] : [{ label, value }];
}

export function existingOf(record: GraphContact): ExistingContact {
  const place = (label: string, value: GraphContact['homeAddress']) =>
    value === undefined || value === null || Object.values(value).every((part) => part === '')
      ? []
      : [{ label, value: addressOf(value) }];
  return {
    id: record.id,
    uid: record.singleValueExtendedProperties.find(({ id }) => sameProperty(id))?.value ?? '',
    contact: {
      ...BLANK_CONTACT,
      name: {
        formatted: record.displayName,
        prefix: record.title,
        given: record.givenName,
        middle: record.middleName,
        family: record.surname,
        suffix: record.generation,
      },
      phonetic: { given: record.yomiGivenName, middle: '', family: record.yomiSurname },
      nickname: record.nickName,
      emails: record.emailAddresses.flatMap(({ address: value }) => one('', value)),
      phones: [
        ...one('mobile', record.mobilePhone),
        ...record.homePhones.flatMap((value) => one('home', value)),
        ...record.businessPhones.flatMap((value) => one('work', value)),
      ],
      addresses: [
        ...place('home', record.homeAddress),
        ...place('work', record.businessAddress),
        ...place('other', record.otherAddress),
      ],
      websites: one('', record.businessHomePage),
      organization: { name: record.companyName, department: record.department, title: record.jobTitle },
      role: record.profession,
      birthday: record.birthday.slice(0, 'YYYY-MM-DD'.length),
      // The form in which we write them, because the field has no place for the service.
      messengers: record.imAddresses.flatMap((value) => one('', value)),
      relations: [
        ...one('spouse', record.spouseName),
        ...record.children.flatMap((value) => one('child', value)),
        ...one('assistant', record.assistantName),
        ...one('manager', record.manager),
      ],
      notes: record.personalNotes,
      groups: record.categories,
    },
  };
}

/** Exchange may return the GUID in another case. */
function sameProperty(id: string): boolean {
  return id.toLowerCase() === UID_PROPERTY.toLowerCase();
}

function addressOf({ street, city, state, postalCode, countryOrRegion }: GraphAddress): PostalAddress {
  return { poBox: '', extended: '', street, city, region: state, postalCode, country: countryOrRegion };
}

/** What an existing contact already has in these properties; it stays as it is. */
type Taken = Pick<
  GraphContact,
  | 'mobilePhone'
  | 'homePhones'
  | 'businessPhones'
  | 'emailAddresses'
  | 'imAddresses'
  | 'children'
  | 'categories'
  | 'businessHomePage'
  | 'companyName'
  | 'department'
  | 'jobTitle'
  | 'spouseName'
  | 'assistantName'
  | 'manager'
  | 'homeAddress'
  | 'businessAddress'
  | 'otherAddress'
  | 'personalNotes'
>;
const NOTHING_TAKEN: Taken = {
  mobilePhone: '',
  homePhones: [],
  businessPhones: [],
  emailAddresses: [],
  imAddresses: [],
  children: [],
  categories: [],
  businessHomePage: '',
  companyName: '',
  department: '',
  jobTitle: '',
  spouseName: '',
  assistantName: '',
  manager: '',
  homeAddress: undefined,
  businessAddress: undefined,
  otherAddress: undefined,
  personalNotes: '',
};

/** The body with which Graph v1.0 creates a contact. Values without a field of their own go into the notes, by `spill`. */
export function graphContactOf(contact: Contact): { body: Record<string, unknown>; spill: Spill } {
  const { fields, spill } = fieldsOf(contact, NOTHING_TAKEN);
  const body = {
    ...fields,
    displayName: displayNameOf(contact),
    personalNotes: spill.below(contact.notes),
    singleValueExtendedProperties: [{ id: UID_PROPERTY, value: contact.uid }],
  };
  return { body, spill };
}

/**
 * The properties to set so that nothing is missing from a contact. Lists include the entries it has already.
 * @param add `fillingFor` of this contact
 */
export function filledContact(record: GraphContact, add: Contact): { body: Record<string, unknown>; spill: Spill } {
  const { fields, spill } = fieldsOf(add, record);
  const more = spill.below(add.notes);
  const notes = [record.personalNotes, more].filter((part) => part !== '').join('\n\n');
  const body = {
    ...fields,
    ...(add.name.formatted === '' ? {} : { displayName: add.name.formatted }),
    ...(more === '' ? {} : { personalNotes: notes }),
  };
  return { body, spill };
}

function fieldsOf(contact: Contact, taken: Taken): { fields: Record<string, unknown>; spill: Spill } {
  const spill = new Spill();
  const { fits, left } = placed(contact, 'microsoft');
  spill.add(left.filter(({ part }) => part !== 'note'));
  const items = new ItemIndex(contact);
  const give = (part: Part, value: string, label: string) => spill.add(items.find(part, label, value));
  const { name, organization, phonetic } = fits;
  const birthday = isInOutlook(fits.birthday) ? fits.birthday : '';
  if (fits.birthday !== birthday) give('birthday', dayInWords(fits.birthday), '');
  if (phonetic.middle !== '') give('phonetic name', phonetic.middle, 'middle');

  const emails = room(fits.emails, EMAILS_AT_MOST - taken.emailAddresses.length);
  for (const { label, value } of emails.left) give('email', value, label);
  const messengers = room(fits.messengers, MESSENGERS_AT_MOST - taken.imAddresses.length);
  for (const { label, value } of messengers.left) give('messenger', value, label);
  const websites = room(fits.websites, taken.businessHomePage === '' ? 1 : 0);
  for (const { label, value } of websites.left) give('website', value, label);
  const isOther = taken.companyName !== organization.name;
  const hasJob = isOther && [taken.companyName, taken.department, taken.jobTitle].some((part) => part !== '');
  if (hasJob)
    spill.add(
      itemsOf(contact)
        .filter(({ part }) => part === 'company')
        .slice(0, 1),
    );

  const fields = {
    title: name.prefix,
    givenName: name.given,
    middleName: name.middle,
    surname: name.family,
    generation: name.suffix,
    nickName: fits.nickname,
    yomiGivenName: phonetic.given,
    yomiSurname: phonetic.family,
    ...(hasJob
      ? {}
      : { companyName: organization.name, department: organization.department, jobTitle: organization.title }),
    profession: fits.role,
    businessHomePage: websites.fits[0]?.value ?? '',
    // Noon, so that it is the same day in every time zone.
    birthday: birthday === '' ? '' : `${birthday}T12:00:00Z`,
    ...joined('emailAddresses', taken.emailAddresses, emails.fits, ({ value }) => ({
      address: value,
      name: displayNameOf(contact),
    })),
    ...joined('imAddresses', taken.imAddresses, messengers.fits, ({ label, value }) =>
      label === '' ? value : `${label}: ${value}`,
    ),
    ...joined('categories', taken.categories, fits.groups, (group) => group),
    ...relationsOf(fits.relations, taken, ({ label, value }) => give('relation', value, label)),
    ...phonesOf(fits.phones, taken, ({ label, value }) => give('phone', value, label)),
    ...addressesOf(fits.addresses, taken, ({ label, value }) => give('address', envelopeOf(value), label)),
  };
  return {
    fields: Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value))),
    spill,
  };
}

function isEmpty(value: string | readonly unknown[] | GraphAddress): boolean {
  return typeof value === 'string' || Array.isArray(value) ? value.length === 0 : false;
}

type Give<Value> = (value: Labelled<Value>) => void;

function room<Value>(values: readonly Value[], most: number): { fits: readonly Value[]; left: readonly Value[] } {
  const places = Math.max(0, most);
  return { fits: values.slice(0, places), left: values.slice(places) };
}

/** Graph replaces lists as a whole, so the existing entries come first; empty if there is nothing to add. */
function joined<Value>(
  field: string,
  there: readonly unknown[],
  add: readonly Value[],
  spell: (value: Value) => unknown,
): Record<string, readonly unknown[]> {
  return add.length === 0 ? {} : { [field]: [...there, ...add.map(spell)] };
}

function relationsOf(relations: readonly Labelled<string>[], taken: Taken, give: Give<string>) {
  const single = { spouse: taken.spouseName, assistant: taken.assistantName, manager: taken.manager };
  const added = { spouse: '', assistant: '', manager: '' };
  const children: string[] = [];
  for (const relation of relations) {
    const { label, value } = relation;
    if (label === 'child') children.push(value);
    else if ((label === 'spouse' || label === 'assistant' || label === 'manager') && single[label] === '')
      single[label] = added[label] = value;
    else give(relation);
  }
  return {
    spouseName: added.spouse,
    assistantName: added.assistant,
    manager: added.manager,
    ...joined('children', taken.children, children, (child) => child),
  };
}

function phonesOf(phones: readonly Labelled<string>[], taken: Taken, give: Give<string>) {
  const places = {
    mobile: taken.mobilePhone === '' ? [] : [taken.mobilePhone],
    home: [...taken.homePhones],
    business: [...taken.businessPhones],
  };
  const changed = new Set<keyof typeof places>();
  for (const phone of phones) {
    const place = placeOf(phone.label);
    if (place !== null && places[place].length < PHONES_AT_MOST[place]) {
      places[place].push(phone.value);
      changed.add(place);
    } else give(phone);
  }
  return {
    mobilePhone: changed.has('mobile') ? (places.mobile[0] ?? '') : '',
    homePhones: changed.has('home') ? places.home : [],
    businessPhones: changed.has('business') ? places.business : [],
  };
}

/** Numbers without a meaningful label go to home, which has the most room. */
function placeOf(label: string): keyof typeof PHONES_AT_MOST | null {
  switch (label) {
    case 'mobile':
    case 'work mobile':
      return 'mobile';
    case 'work':
    case 'main':
      return 'business';
    case 'home':
    case 'other':
    case '':
      return 'home';
    default:
      return null;
  }
}

type GraphAddress = Readonly<Record<'street' | 'city' | 'state' | 'postalCode' | 'countryOrRegion', string>>;

function addressesOf(
  addresses: readonly Labelled<PostalAddress>[],
  taken: Taken,
  give: Give<PostalAddress>,
): Record<string, readonly GraphAddress[] | GraphAddress> {
  const places = new Map<string, GraphAddress>();
  for (const { label, value } of addresses) {
    const wanted = label === 'home' ? 'homeAddress' : label === 'work' ? 'businessAddress' : 'otherAddress';
    const there = taken[wanted];
    const isFree = there === undefined || there === null || Object.values(there).every((part) => part === '');
    if (!isFree || places.has(wanted)) give({ label, value });
    else places.set(wanted, graphAddressOf(value));
  }
  return Object.fromEntries(places);
}

function graphAddressOf({ poBox, extended, street, city, region, postalCode, country }: PostalAddress): GraphAddress {
  const lines = [poBox, extended, street].filter((line) => line !== '');
  return { street: lines.join('\n'), city, state: region, postalCode, countryOrRegion: country };
}
