import { idOf, type NamedProperty } from './named-properties.ts';
import { oneOff } from './address-entry.ts';
import { binary, boolean, integer, shortInteger, text, texts, time, TYPE, type Property } from './properties.ts';

type Labelled<Value> = { readonly label: string; readonly value: Value };

type PostalAddress = {
  readonly poBox: string;
  readonly extended: string;
  readonly street: string;
  readonly city: string;
  readonly region: string;
  readonly postalCode: string;
  readonly country: string;
};

type Organization = { readonly name: string; readonly department: string; readonly title: string };

/**
 * A person, modelled on vCard. Absent text is `''`. `birthday` and `dates` are `YYYY-MM-DD` or `--MM-DD`. Labels are
 * `home`, `work` and the like; of `dates` `anniversary` and the like, of `messengers` the services, of `relations`
 * `spouse` and the like, and of `more` what it is.
 */
export type PstContact = {
  readonly name: {
    readonly formatted: string;
    readonly prefix: string;
    readonly given: string;
    readonly middle: string;
    readonly family: string;
    readonly suffix: string;
  };
  readonly phonetic: { readonly given: string; readonly middle: string; readonly family: string };
  readonly nickname: string;
  readonly emails: readonly Labelled<string>[];
  readonly phones: readonly Labelled<string>[];
  readonly addresses: readonly Labelled<PostalAddress>[];
  readonly websites: readonly Labelled<string>[];
  readonly organization: Organization;
  readonly otherOrganizations: readonly Organization[];
  readonly role: string;
  readonly birthday: string;
  readonly dates: readonly Labelled<string>[];
  readonly messengers: readonly Labelled<string>[];
  readonly relations: readonly Labelled<string>[];
  readonly gender: string;
  readonly notes: string;
  readonly photo?: { readonly mediaType: string; readonly bytes: Uint8Array };
  readonly groups: readonly string[];
  readonly more: readonly Labelled<string>[];
};

const given = (id: number, value: string): Property[] => (value === '' ? [] : [text(id, value)]);
const named = (name: NamedProperty, value: string): Property[] => given(idOf(name), value);

/** MS-OXOCNTC §2.2.1. Values without a place of their own are added to the notes, so that nothing is lost. */
export function contactProperties(contact: PstContact): Property[] {
  const { name, phonetic, organization, groups } = contact;
  const shown =
    name.formatted ||
    [name.prefix, name.given, name.middle, name.family, name.suffix].filter((part) => part !== '').join(' ') ||
    organization.name ||
    (contact.emails[0]?.value ?? '') ||
    (contact.phones[0]?.value ?? '') ||
    'No name';
  const filed = name.family !== '' && name.given !== '' ? `${name.family}, ${name.given}` : shown;
  const rest: string[] = [];
  const properties = [
    text(0x3001, shown),
    text(0x0037, `\u0001\u0001${shown}`),
    text(0x0e1d, shown),
    text(0x0070, shown),
    ...named('fileUnder', filed),
    integer(idOf('fileUnderId'), filed === shown ? 0x8001 : 0x8017),
    ...given(0x3a45, name.prefix),
    ...given(0x3a06, name.given),
    ...given(0x3a44, name.middle),
    ...given(0x3a11, name.family),
    ...given(0x3a05, name.suffix),
    ...given(0x3a4f, contact.nickname),
    ...given(0x3a16, organization.name),
    ...given(0x3a18, organization.department),
    ...given(0x3a17, organization.title),
    ...emails(contact.emails, shown, rest),
    ...phones(contact.phones, rest),
    ...addresses(contact.addresses, rest),
    ...websites(contact.websites, rest),
    ...named('phoneticGiven', phonetic.given),
    ...named('phoneticFamily', phonetic.family),
    ...given(PROFESSION, contact.role),
    ...day(BIRTHDAY, 'birthdayLocal', { label: 'Birthday', value: contact.birthday }, rest),
    ...days(contact.dates, rest),
    ...messengers(contact.messengers, rest),
    ...relations(contact.relations, rest),
    ...gender(contact.gender, rest),
    ...(groups.length === 0 ? [] : [texts(idOf('keywords'), groups)]),
    boolean(idOf('hasPicture'), contact.photo !== undefined),
  ];
  if (phonetic.middle !== '') rest.push(`Phonetic middle name: ${phonetic.middle}`);
  for (const { title, department, name: company } of contact.otherOrganizations)
    rest.push(`Other job: ${[title, department, company].filter((part) => part !== '').join(', ')}`);
  rest.push(...contact.more.map(lineOf));
  const notes = [contact.notes, rest.join('\r\n')].filter((part) => part !== '').join('\r\n\r\n');
  return [...properties, ...given(0x1000, notes.replaceAll(/\r?\n/g, '\r\n'))];
}

const EMAILS = ['email1', 'email2', 'email3'] as const;

function emails(all: PstContact['emails'], shown: string, rest: string[]): Property[] {
  rest.push(...all.filter((email, at) => at >= EMAILS.length || isOwn(email)).map((email) => noteOf('E-mail', email)));
  const held = all.slice(0, EMAILS.length);
  if (held.length === 0) return [];
  const kinds = Buffer.alloc(4 + held.length * 4);
  kinds.writeUInt32LE(held.length, 0);
  for (const index of held.keys()) kinds.writeUInt32LE(index, 4 + index * 4);
  return [
    ...held.flatMap(({ value }, index) => {
      const each = EMAILS[index] ?? 'email1';
      return [
        text(idOf(`${each}DisplayName`), `${shown} (${value})`),
        text(idOf(`${each}AddressType`), 'SMTP'),
        text(idOf(`${each}Address`), value),
        text(idOf(`${each}OriginalDisplayName`), value),
        binary(idOf(`${each}EntryId`), oneOff({ name: shown, email: value })),
      ];
    }),
    { id: idOf('emailList'), type: TYPE.manyIntegers32, value: kinds },
    // A bit for each address that there is (MS-OXOCNTC §2.2.1.2.11).
    integer(idOf('emailKinds'), (1 << held.length) - 1),
  ];
}

/** The labels that vCard and address books use, alone or together; all others are their owner's own words. */
const KNOWN =
  /^(?:(?:home|homepage|work|business|other|voice|fax|pager|cell|mobile|iphone|car|assistant|company|main|pref|primary)(?: |$))*$/;

function isOwn({ label }: Labelled<unknown>): boolean {
  return !KNOWN.test(label.toLowerCase().slice(0, 100));
}

function noteOf(kind: string, { label, value }: Labelled<string>): string {
  return `${kind}${label === '' ? '' : ` (${label})`}: ${value}`;
}

/** Outlook's telephone properties, by the labels that vCard and address books use; several are used in turn. */
const PHONES: readonly (readonly [RegExp, readonly number[]])[] = [
  [/^(?=.*fax)(?=.*home)/s, [0x3a25]],
  [/fax/, [0x3a24, 0x3a23]],
  [/pager/, [0x3a21]],
  [/cell|mobile|iphone/, [0x3a1c, 0x3a1f]],
  [/car/, [0x3a1e]],
  [/assistant/, [0x3a2e]],
  [/company/, [0x3a57]],
  [/main|pref|primary/, [0x3a1a, 0x3a1f]],
  [/work|business/, [0x3a08, 0x3a1b]],
  [/home/, [0x3a09, 0x3a2f]],
  [/^(?:other|voice)?$/, [0x3a1f]],
];
const SPARE_PHONES = [0x3a1f, 0x3a09, 0x3a08, 0x3a1c, 0x3a2f, 0x3a1b, 0x3a1a];

function phones(all: PstContact['phones'], rest: string[]): Property[] {
  const places = new Map<number, string>();
  for (const phone of all) {
    const { label, value } = phone;
    const kind = isOwn(phone) ? undefined : PHONES.find(([words]) => words.test(label.toLowerCase().slice(0, 100)));
    const wanted = kind?.[1] ?? [];
    const isFax = label.toLowerCase().includes('fax');
    const place = [...wanted, ...(isFax ? [] : SPARE_PHONES)].find((id) => !places.has(id));
    if (place !== undefined) places.set(place, value);
    // The property does not tell what it is.
    if (place === undefined || !wanted.includes(place)) rest.push(`Phone (${label || 'other'}): ${value}`);
  }
  return [...places].flatMap(([id, value]) => given(id, value));
}

type AddressPlaces = Readonly<
  Record<'street' | 'city' | 'region' | 'postalCode' | 'country' | 'poBox' | 'whole', number>
>;

const ADDRESSES = (): readonly (readonly [RegExp, AddressPlaces])[] => [
  [
    /work|business/,
    {
      street: idOf('workStreet'),
      city: idOf('workCity'),
      region: idOf('workState'),
      postalCode: idOf('workPostalCode'),
      country: idOf('workCountry'),
      poBox: idOf('workPostOfficeBox'),
      whole: idOf('workAddress'),
    },
  ],
  [
    /home/,
    {
      street: 0x3a5d,
      city: 0x3a59,
      region: 0x3a5c,
      postalCode: 0x3a5b,
      country: 0x3a5a,
      poBox: 0x3a5e,
      whole: idOf('homeAddress'),
    },
  ],
  [
    /(?:)/,
    {
      street: 0x3a63,
      city: 0x3a5f,
      region: 0x3a62,
      postalCode: 0x3a61,
      country: 0x3a60,
      poBox: 0x3a64,
      whole: idOf('otherAddress'),
    },
  ],
];

/**
 * Addresses with a property of their own come before those that take a spare one, and the first one is the mailing
 * address.
 */
function addresses(all: PstContact['addresses'], rest: string[]): Property[] {
  const places = ADDRESSES();
  const taken = new Map<AddressPlaces, number>();
  const take = (at: number, wanted: readonly (AddressPlaces | undefined)[]) => {
    const place = wanted.find((each) => each !== undefined && !taken.has(each));
    if (place !== undefined) taken.set(place, at);
  };
  for (const [at, address] of all.entries())
    if (!isOwn(address)) take(at, [places.find(([words]) => words.test(address.label.toLowerCase()))?.[1]]);
  const placed = new Set(taken.values());
  const elsewhere = [...all.entries()].filter(([at]) => !placed.has(at));
  for (const [at, { label, value }] of elsewhere) {
    take(at, places.map(([, each]) => each).toReversed());
    // The property, if it has any, does not tell what it is.
    rest.push(`Address (${label || 'other'}): ${wholeOf(value).replaceAll('\r\n', ', ')}`);
  }
  const mailing = places.findIndex(([, place]) => taken.get(place) === 0);
  return [
    ...(mailing < 0 ? [] : [integer(idOf('postalAddressId'), [2, 1, 3][mailing] ?? 0)]),
    ...[...taken].flatMap(([place, at]) => addressAt(place, all[at]?.value)),
  ];
}

function addressAt(place: AddressPlaces, value: PostalAddress | undefined): Property[] {
  if (value === undefined) return [];
  return [
    ...given(place.street, streetOf(value)),
    ...given(place.city, value.city),
    ...given(place.region, value.region),
    ...given(place.postalCode, value.postalCode),
    ...given(place.country, value.country),
    ...given(place.poBox, value.poBox),
    ...given(place.whole, wholeOf(value)),
  ];
}

function streetOf({ extended, street }: PostalAddress): string {
  return [extended, street].filter((part) => part !== '').join('\r\n');
}

function wholeOf(address: PostalAddress): string {
  const town = [address.city, address.region, address.postalCode].filter((part) => part !== '').join(' ');
  return [address.poBox, streetOf(address), town, address.country].filter((part) => part !== '').join('\r\n');
}

function websites(all: PstContact['websites'], rest: string[]): Property[] {
  const places = new Map<number, string>();
  for (const website of all) {
    const wanted = website.label.toLowerCase().includes('home') ? [0x3a50, 0x3a51] : [0x3a51, 0x3a50];
    const place = wanted.find((id) => !places.has(id));
    if (place !== undefined) places.set(place, website.value);
    if (place === undefined || isOwn(website)) rest.push(noteOf('Website', website));
  }
  const [first] = places.values();
  return [...[...places].flatMap(([id, value]) => given(id, value)), ...named('webPage', first ?? '')];
}

const [BIRTHDAY, ANNIVERSARY] = [0x3a42, 0x3a41];
const [PROFESSION, GENDER] = [0x3a46, 0x3a4d];
const CHILDREN = 0x3a58;
/** The relations that Outlook has a property for. */
const RELATIONS = new Map([
  ['spouse', 0x3a48],
  ['partner', 0x3a48],
  ['assistant', 0x3a30],
  ['manager', 0x3a4e],
]);
/** PidTagGender. */
const GENDERS = new Map([
  ['female', 1],
  ['male', 2],
]);

const lineOf = ({ label, value }: Labelled<string>) => `${label || 'other'}: ${value}`;

/** The minute before noon in UTC, which is the same day in America and Europe (MS-OXOCNTC §2.2.1.5.1). */
const BEFORE_NOON = (12 * 60 - 1) * 60_000;

/**
 * A day, and its midnight without any time zone. Without a year it is 1604, as in Outlook and in phones' address books.
 */
function day(id: number, local: NamedProperty, { label, value }: Labelled<string>, rest: string[]): Property[] {
  if (value === '') return [];
  const [, year, month = '', date = ''] = /^(?:(\d{4})|-)-(\d{2})-(\d{2})$/.exec(value) ?? [];
  const at = Date.parse(`${year ?? '1604'}-${month}-${date}T00:00:00Z`);
  // Times of PST files begin with 1601.
  if (at >= Date.parse('1601-01-02')) return [time(id, at + BEFORE_NOON), time(idOf(local), at)];
  rest.push(lineOf({ label, value }));
  return [];
}

function days(all: PstContact['dates'], rest: string[]): Property[] {
  const first = all.find(({ label }) => label.toLowerCase() === 'anniversary');
  rest.push(...all.filter((each) => each !== first).map(lineOf));
  return first === undefined ? [] : day(ANNIVERSARY, 'anniversaryLocal', first, rest);
}

function messengers([first, ...others]: PstContact['messengers'], rest: string[]): Property[] {
  rest.push(...others.map(lineOf));
  if (first === undefined) return [];
  return named('messenger', first.label === '' ? first.value : `${first.label}: ${first.value}`);
}

function relations(all: PstContact['relations'], rest: string[]): Property[] {
  const places = new Map<number, string>();
  const children: string[] = [];
  for (const each of all) {
    const label = each.label.toLowerCase();
    const place = RELATIONS.get(label);
    if (label === 'child') children.push(each.value);
    else if (place !== undefined && !places.has(place)) places.set(place, each.value);
    else rest.push(lineOf(each));
  }
  const held = [...places].flatMap(([id, value]) => given(id, value));
  return children.length === 0 ? held : [...held, texts(CHILDREN, children)];
}

function gender(value: string, rest: string[]): Property[] {
  const known = GENDERS.get(value.toLowerCase());
  if (known !== undefined) return [shortInteger(GENDER, known)];
  if (value !== '') rest.push(lineOf({ label: 'Gender', value }));
  return [];
}
