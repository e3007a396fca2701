import type { Contact } from './contact.ts';
import { itemsOf, nameWords, type Item, type Part } from './parts.ts';

/** Destinations with their own set of fields; a vCard can hold everything. */
export type Destination = 'google' | 'microsoft' | 'google.csv' | 'outlook.csv' | 'outlook-com.csv';

/** The field or columns, and how many values they take; `notes`: the notes, in readable form. */
type Place = 'notes' | { readonly field: string; readonly most?: number };

const at = (field: string, most?: number): Place => (most === undefined ? { field } : { field, most });

/**
 * Where each part of a contact goes. Values beyond `most` go into the notes too, and so do values that a field can't hold
 * (a third number at home, a birthday without a year); `left out`: they go nowhere.
 * Read on 2026-11-21:
 * - google: developers.google.com/people/api/rest/v1/people (resource Person)
 * - microsoft: learn.microsoft.com/graph/api/resources/contact (v1.0)
 * - google.csv: the template of contacts.google.com, "Import"
 * - outlook.csv: support.microsoft.com, "Import contacts to Outlook", the export of classic Outlook for Windows
 * - outlook-com.csv: support.microsoft.com, "Import or export contacts in Outlook" (on the web), its sample
 */
export const PLACES: Readonly<Record<Part, Readonly<Record<Destination, Place>>>> = {
  name: {
    google: at('names'),
    microsoft: at('title, givenName, middleName, surname, generation'),
    'google.csv': at('Name Prefix, First Name, Middle Name, Last Name, Name Suffix'),
    'outlook.csv': at('Title, First Name, Middle Name, Last Name, Suffix'),
    'outlook-com.csv': at('Title, First Name, Middle Name, Last Name, Suffix'),
  },
  'display name': {
    google: at('fileAses'),
    microsoft: at('displayName'),
    'google.csv': at('File As'),
    'outlook.csv': 'notes',
    'outlook-com.csv': 'notes',
  },
  'phonetic name': {
    google: at('names.phonetic…'),
    microsoft: at('yomiGivenName, yomiSurname'),
    'google.csv': at('Phonetic First Name, Phonetic Middle Name, Phonetic Last Name'),
    'outlook.csv': 'notes',
    'outlook-com.csv': at('Given Yomi, Surname Yomi'),
  },
  nickname: {
    google: at('nicknames'),
    microsoft: at('nickName'),
    'google.csv': at('Nickname'),
    'outlook.csv': 'notes',
    'outlook-com.csv': at('Nickname'),
  },
  email: {
    google: at('emailAddresses'),
    microsoft: at('emailAddresses', 3),
    'google.csv': at('E-mail n', 5),
    'outlook.csv': at('E-mail Address', 3),
    'outlook-com.csv': at('E-mail Address', 3),
  },
  phone: {
    google: at('phoneNumbers'),
    microsoft: at('mobilePhone, homePhones, businessPhones'),
    'google.csv': at('Phone n', 6),
    'outlook.csv': at('… Phone, … Fax, Pager'),
    'outlook-com.csv': at('… Phone, … Fax, Pager'),
  },
  address: {
    google: at('addresses'),
    microsoft: at('homeAddress, businessAddress, otherAddress'),
    'google.csv': at('Address n', 3),
    'outlook.csv': at('Home …, Business …, Other …'),
    'outlook-com.csv': at('Home …, Business …, Other …'),
  },
  website: {
    google: at('urls'),
    microsoft: at('businessHomePage', 1),
    'google.csv': at('Website n', 3),
    'outlook.csv': at('Web Page', 1),
    'outlook-com.csv': at('Web Page, Personal Web Page', 2),
  },
  company: {
    google: at('organizations'),
    microsoft: at('companyName, department, jobTitle', 1),
    'google.csv': at('Organization Name, Organization Title, Organization Department', 1),
    'outlook.csv': at('Company, Department, Job Title', 1),
    'outlook-com.csv': at('Company, Department, Job Title', 1),
  },
  role: {
    google: at('occupations'),
    microsoft: at('profession'),
    'google.csv': at('Custom Field n'),
    'outlook.csv': at('Profession'),
    'outlook-com.csv': 'notes',
  },
  birthday: {
    google: at('birthdays'),
    microsoft: at('birthday'),
    'google.csv': at('Birthday'),
    'outlook.csv': at('Birthday'),
    'outlook-com.csv': at('Birthday'),
  },
  date: {
    google: at('events'),
    microsoft: 'notes',
    'google.csv': at('Event n', 3),
    'outlook.csv': at('Anniversary'),
    'outlook-com.csv': at('Anniversary'),
  },
  messenger: {
    google: at('imClients'),
    microsoft: at('imAddresses', 3),
    'google.csv': at('Custom Field n'),
    'outlook.csv': 'notes',
    'outlook-com.csv': at('IMAddress', 1),
  },
  relation: {
    google: at('relations'),
    microsoft: at('spouseName, children, assistantName, manager'),
    'google.csv': at('Relation n', 3),
    'outlook.csv': at("Spouse, Children, Assistant's Name, Manager's Name"),
    'outlook-com.csv': at("Spouse, Assistant's Name, Manager's Name"),
  },
  gender: {
    google: at('genders'),
    microsoft: 'notes',
    'google.csv': at('Custom Field n'),
    'outlook.csv': at('Gender'),
    'outlook-com.csv': 'notes',
  },
  note: {
    google: at('biographies'),
    microsoft: at('personalNotes'),
    'google.csv': at('Notes'),
    'outlook.csv': at('Notes'),
    'outlook-com.csv': at('Notes'),
  },
  photo: {
    google: at('updateContactPhoto'),
    microsoft: at('photo/$value'),
    'google.csv': 'notes',
    'outlook.csv': 'notes',
    'outlook-com.csv': 'notes',
  },
  group: {
    google: at('memberships'),
    microsoft: at('categories'),
    'google.csv': at('Labels'),
    'outlook.csv': at('Categories'),
    'outlook-com.csv': 'notes',
  },
  detail: {
    google: at('userDefined'),
    microsoft: 'notes',
    'google.csv': at('Custom Field n'),
    'outlook.csv': 'notes',
    'outlook-com.csv': 'notes',
  },
};

/** The part of a contact that has a place of its own at a destination, and the values that have none. */
export function placed(contact: Contact, destination: Destination): { readonly fits: Contact; readonly left: Item[] } {
  const most = (part: Part): number => {
    const place = PLACES[part][destination];
    return place === 'notes' ? 0 : (place.most ?? Infinity);
  };
  const first = <Value>(part: Part, values: readonly Value[]) => values.slice(0, most(part));
  const text = (part: Part, value: string) => (most(part) === 0 ? '' : value);
  const { photo, ...rest } = contact;
  const organizations = first('company', [contact.organization, ...contact.otherOrganizations]);
  const [organization = contact.organization, ...otherOrganizations] = organizations;
  const fits: Contact = {
    ...rest,
    phonetic: most('phonetic name') === 0 ? { given: '', middle: '', family: '' } : contact.phonetic,
    nickname: text('nickname', contact.nickname),
    emails: first('email', contact.emails),
    phones: first('phone', contact.phones),
    addresses: first('address', contact.addresses),
    websites: first('website', contact.websites),
    organization,
    otherOrganizations,
    role: text('role', contact.role),
    birthday: text('birthday', contact.birthday),
    dates: first('date', contact.dates),
    messengers: first('messenger', contact.messengers),
    relations: first('relation', contact.relations),
    gender: text('gender', contact.gender),
    groups: first('group', contact.groups),
    more: first('detail', contact.more).filter(({ value }) => value !== ''),
    ...(photo === undefined || most('photo') === 0 ? {} : { photo }),
  };
  const taken = new Map<Part, number>();
  const isAllThereIs = nameWords(contact).size === 0;
  const left = itemsOf(contact).filter((item) => {
    // Without name components, the display name is the name.
    if (item.part === 'display name' && isAllThereIs) return false;
    const before = taken.get(item.part) ?? 0;
    taken.set(item.part, before + 1);
    return before >= most(item.part) || (item.part === 'detail' && item.value === '');
  });
  return { fits, left };
}
