import { idOf, type NamedProperty } from './named-properties.ts';
import { oneOff } from './message.ts';
import { binary, boolean, integer, text, texts, time, TYPE, type Property } from './properties.ts';

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

/** A person, after vCard. Absent text is `''`. `birthday` is `YYYY-MM-DD` or `--MM-DD`; labels are `home`, `work` and the like. */
export type PstContact = {
  readonly name: {
    readonly formatted: string;
    readonly prefix: string;
    readonly given: string;
    readonly middle: string;
    readonly family: string;
    readonly suffix: string;
  };
  readonly nickname: string;
  readonly emails: readonly Labelled<string>[];
  readonly phones: readonly Labelled<string>[];
  readonly addresses: readonly Labelled<PostalAddress>[];
  readonly websites: readonly Labelled<string>[];
  readonly organization: { readonly name: string; readonly department: string; readonly title: string };
  readonly birthday: string;
  readonly notes: string;
  readonly photo?: { readonly mediaType: string; readonly bytes: Uint8Array };
  readonly groups: readonly string[];
};

const given = (id: number, value: string): Property[] => (value === '' ? [] : [text(id, value)]);
const named = (name: NamedProperty, value: string): Property[] => given(idOf(name), value);

/** MS-OXOCNTC §2.2.1. What has no place of its own is added to the notes, so that nothing is lost. */
export function contactProperties(contact: PstContact): Property[] {
  const { name, organization, groups } = contact;
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
    ...birthday(contact.birthday, rest),
    ...(groups.length === 0 ? [] : [texts(idOf('keywords'), groups)]),
    boolean(idOf('hasPicture'), contact.photo !== undefined),
  ];
  const notes = [contact.notes, rest.join('\r\n')].filter((part) => part !== '').join('\r\n\r\n');
  return [...properties, ...given(0x1000, notes.replaceAll(/\r?\n/g, '\r\n'))];
}

const EMAILS = ['email1', 'email2', 'email3'] as const;

function emails(all: PstContact['emails'], shown: string, rest: string[]): Property[] {
  rest.push(...all.slice(EMAILS.length).map(({ value }) => `E-mail: ${value}`));
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

/** The places of Outlook's telephone numbers, by the words that vCard and address books use; in turn where there are more. */
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
  [/(?:)/, [0x3a1f]],
];
const SPARE_PHONES = [0x3a1f, 0x3a09, 0x3a08, 0x3a1c, 0x3a2f, 0x3a1b, 0x3a1a];

function phones(all: PstContact['phones'], rest: string[]): Property[] {
  const places = new Map<number, string>();
  for (const { label, value } of all) {
    const wanted = PHONES.find(([words]) => words.test(label.toLowerCase().slice(0, 100)))?.[1] ?? [];
    const isFax = label.toLowerCase().includes('fax');
    const place = [...wanted, ...(isFax ? [] : SPARE_PHONES)].find((id) => !places.has(id));
    if (place === undefined) rest.push(`Phone (${label || 'other'}): ${value}`);
    else places.set(place, value);
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

function addresses(all: PstContact['addresses'], rest: string[]): Property[] {
  const places = ADDRESSES();
  const taken = new Set<AddressPlaces>();
  const properties: Property[] = [];
  for (const { label, value } of all) {
    const wanted = places.find(([words]) => words.test(label.toLowerCase().slice(0, 100)))?.[1];
    const place = [wanted, ...places.map(([, each]) => each).toReversed()].find(
      (each) => each !== undefined && !taken.has(each),
    );
    const street = [value.extended, value.street].filter((part) => part !== '').join('\r\n');
    const town = [value.city, value.region, value.postalCode].filter((part) => part !== '').join(' ');
    const whole = [value.poBox, street, town, value.country].filter((part) => part !== '').join('\r\n');
    if (place === undefined) {
      rest.push(`Address (${label || 'other'}): ${whole.replaceAll('\r\n', ', ')}`);
      continue;
    }
    if (taken.size === 0)
      properties.push(integer(idOf('postalAddressId'), [2, 1, 3][places.findIndex(([, each]) => each === place)] ?? 0));
    taken.add(place);
    properties.push(
      ...given(place.street, street),
      ...given(place.city, value.city),
      ...given(place.region, value.region),
      ...given(place.postalCode, value.postalCode),
      ...given(place.country, value.country),
      ...given(place.poBox, value.poBox),
      ...given(place.whole, whole),
    );
  }
  return properties;
}

function websites(all: PstContact['websites'], rest: string[]): Property[] {
  const places = new Map<number, string>();
  for (const { label, value } of all) {
    const wanted = label.toLowerCase().includes('home') ? [0x3a50, 0x3a51] : [0x3a51, 0x3a50];
    const place = wanted.find((id) => !places.has(id));
    if (place === undefined) rest.push(`Website: ${value}`);
    else places.set(place, value);
  }
  const [first] = places.values();
  return [...[...places].flatMap(([id, value]) => given(id, value)), ...named('webPage', first ?? '')];
}

/** Midnight in UTC. Without a year it is 1604, as Outlook and address books on phones have it. */
function birthday(value: string, rest: string[]): Property[] {
  if (value === '') return [];
  const [, year, month = '', day = ''] = /^(?:(\d{4})|-)-(\d{2})-(\d{2})$/.exec(value) ?? [];
  const at = Date.parse(`${year ?? '1604'}-${month}-${day}T00:00:00Z`);
  if (!Number.isNaN(at)) return [time(0x3a42, at)];
  rest.push(`Birthday: ${value}`);
  return [];
}
