import * as v from 'valibot';
import type { Contact, Labelled, PostalAddress } from '../../../contract/contact.ts';
import type { ExistingContact } from '../contact-store.ts';
import { unheldNote } from '../unheld-note.ts';
import { displayNameOf } from '../vcard/read-vcard.ts';

/** Outlook has room for no more. */
const EMAILS_AT_MOST = 3;
const PHONES_AT_MOST = { mobile: 1, home: 2, business: 2 } as const;

/** A MAPI property of our own that keeps the `uid` of the contact it was written for. */
export const UID_PROPERTY = 'String {6f1f3c0e-6a53-4a8e-9a55-7d5d0f4f2f0b} Name SanBrunoTransferUid';
export const COMPARED_FIELDS =
  'id,displayName,givenName,surname,companyName,emailAddresses,mobilePhone,homePhones,businessPhones';

const text = v.optional(v.nullish(v.string(), ''), '');
const texts = v.optional(v.nullish(v.array(v.string()), []), []);
/** The part of a contact (Graph v1.0) that is compared. */
export const GraphContact = v.object({
  id: v.pipe(v.string(), v.minLength(1), v.maxLength(1_024)),
  displayName: text,
  givenName: text,
  surname: text,
  companyName: text,
  emailAddresses: v.optional(v.nullish(v.array(v.object({ address: text })), []), []),
  mobilePhone: text,
  homePhones: texts,
  businessPhones: texts,
  singleValueExtendedProperties: v.optional(v.array(v.object({ id: v.string(), value: text })), []),
});
export type GraphContact = v.InferOutput<typeof GraphContact>;

export function existingOf(contact: GraphContact): ExistingContact {
  const names = [contact.displayName, `${contact.givenName} ${contact.surname}`].filter((name) => name.trim() !== '');
  return {
    id: contact.id,
    uid: contact.singleValueExtendedProperties.find(({ id }) => sameProperty(id))?.value ?? '',
    names: names.length > 0 ? names : [contact.companyName],
    emails: contact.emailAddresses.map(({ address }) => address),
    phones: [contact.mobilePhone, ...contact.homePhones, ...contact.businessPhones],
  };
}

/** Exchange gives the GUID back in the case it likes. */
function sameProperty(id: string): boolean {
  return id.toLowerCase() === UID_PROPERTY.toLowerCase();
}

/** A contact as Graph v1.0 creates it. What has no field of its own is written into the notes, and `notes` says so. */
export function graphContactOf(contact: Contact): { body: Record<string, unknown>; notes: string[] } {
  const spill = new Spill();
  const { name, organization } = contact;
  const emails = contact.emails.slice(0, EMAILS_AT_MOST);
  spill.add('Email', contact.emails.slice(EMAILS_AT_MOST));
  const [website] = contact.websites;
  spill.add('Website', contact.websites.slice(1));
  const birthday = contact.birthday.startsWith('--') ? '' : contact.birthday;
  if (contact.birthday !== birthday) spill.add('Birthday', [{ label: '', value: contact.birthday.slice(2) }]);

  const fields = {
    displayName: displayNameOf(contact),
    title: name.prefix,
    givenName: name.given,
    middleName: name.middle,
    surname: name.family,
    generation: name.suffix,
    nickName: contact.nickname,
    companyName: organization.name,
    department: organization.department,
    jobTitle: organization.title,
    businessHomePage: website?.value ?? '',
    // Midday keeps the day whatever the time zone that shows it.
    birthday: birthday === '' ? '' : `${birthday}T12:00:00Z`,
    emailAddresses: emails.map(({ value }) => ({ address: value, name: displayNameOf(contact) })),
    categories: contact.groups,
    ...phonesOf(contact.phones, spill),
  };
  const addresses = addressesOf(contact.addresses, spill);
  const body = {
    ...addresses,
    ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value.length !== 0)),
    personalNotes: [contact.notes, ...spill.lines].filter((line) => line !== '').join('\n'),
    singleValueExtendedProperties: [{ id: UID_PROPERTY, value: contact.uid }],
  };
  const moved = spill.kinds.size === 0 ? [] : [`moved into the notes: ${[...spill.kinds].join(', ')}`];
  return { body, notes: [...moved, ...unheldNote(contact)] };
}

class Spill {
  readonly lines: string[] = [];
  readonly kinds = new Set<string>();

  add(kind: string, values: readonly Labelled<string>[]): void {
    for (const { label, value } of values) {
      this.lines.push(`${kind}${label === '' ? '' : ` (${label})`}: ${value}`);
      this.kinds.add(kind.toLowerCase());
    }
  }
}

function phonesOf(phones: readonly Labelled<string>[], spill: Spill) {
  const mobile: string[] = [];
  const home: string[] = [];
  const business: string[] = [];
  for (const phone of phones) {
    const [place, most] = placeOf(phone.label, { mobile, home, business });
    if (place !== null && place.length < most) place.push(phone.value);
    else spill.add('Phone', [phone]);
  }
  return { mobilePhone: mobile[0] ?? '', homePhones: home, businessPhones: business };
}

/** Numbers without a telling label go where there is most room: to home. */
function placeOf(
  label: string,
  places: { mobile: string[]; home: string[]; business: string[] },
): [string[] | null, number] {
  switch (label) {
    case 'mobile':
    case 'work mobile':
      return [places.mobile, PHONES_AT_MOST.mobile];
    case 'work':
    case 'main':
      return [places.business, PHONES_AT_MOST.business];
    case 'home':
    case 'other':
    case '':
      return [places.home, PHONES_AT_MOST.home];
    default:
      return [null, 0];
  }
}

type GraphAddress = Readonly<Record<'street' | 'city' | 'state' | 'postalCode' | 'countryOrRegion', string>>;

function addressesOf(addresses: readonly Labelled<PostalAddress>[], spill: Spill): Record<string, GraphAddress> {
  const places = new Map<string, GraphAddress>();
  for (const { label, value } of addresses) {
    const wanted = label === 'home' ? 'homeAddress' : label === 'work' ? 'businessAddress' : 'otherAddress';
    if (places.has(wanted)) spill.add('Address', [{ label, value: Object.values(value).filter(Boolean).join(', ') }]);
    else places.set(wanted, graphAddressOf(value));
  }
  return Object.fromEntries(places);
}

function graphAddressOf({ poBox, extended, street, city, region, postalCode, country }: PostalAddress): GraphAddress {
  const lines = [poBox, extended, street].filter((line) => line !== '');
  return { street: lines.join('\n'), city, state: region, postalCode, countryOrRegion: country };
}
