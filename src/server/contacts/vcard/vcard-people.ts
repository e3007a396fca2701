import type { Labelled } from '../contact.ts';
import { CardProperties } from './card-properties.ts';
import { paramOf, readCardLines, splitValue, typesOf, unescapeText, type VcardLine } from './vcard-lines.ts';
import { birthdayOf } from './vcard-values.ts';

/** Properties for individual messengers from before IMPP (RFC 4770), and the service of each. */
export const MESSENGER_PROPERTIES: ReadonlyMap<string, string> = new Map([
  ['X-AIM', 'aim'],
  ['X-GADUGADU', 'gadugadu'],
  ['X-GOOGLE-TALK', 'gtalk'],
  ['X-GROUPWISE', 'groupwise'],
  ['X-GTALK', 'gtalk'],
  ['X-ICQ', 'icq'],
  ['X-JABBER', 'jabber'],
  ['X-MS-IMADDRESS', ''],
  ['X-MSN', 'msn'],
  ['X-QQ', 'qq'],
  ['X-SIP', 'sip'],
  ['X-SKYPE', 'skype'],
  ['X-SKYPE-USERNAME', 'skype'],
  ['X-YAHOO', 'yahoo'],
]);

/** Properties for individual relations, as in Evolution, KAddressBook, Outlook and others. */
export const RELATION_PROPERTIES: ReadonlyMap<string, string> = new Map([
  ['X-SPOUSE', 'spouse'],
  ['X-EVOLUTION-SPOUSE', 'spouse'],
  ['X-KADDRESSBOOK-X-SPOUSESNAME', 'spouse'],
  ['X-CHILD', 'child'],
  ['X-CHILDREN', 'child'],
  ['X-MANAGER', 'manager'],
  ['X-EVOLUTION-MANAGER', 'manager'],
  ['X-KADDRESSBOOK-X-MANAGERSNAME', 'manager'],
  ['X-ASSISTANT', 'assistant'],
  ['X-EVOLUTION-ASSISTANT', 'assistant'],
  ['X-KADDRESSBOOK-X-ASSISTANTSNAME', 'assistant'],
  ['X-MS-SPOUSE', 'spouse'],
  ['X-MS-CHILD', 'child'],
  ['X-MS-MANAGER', 'manager'],
  ['X-MS-ASSISTANT', 'assistant'],
]);

const ANNIVERSARIES: ReadonlySet<string> = new Set(
  'ANNIVERSARY X-ANNIVERSARY X-EVOLUTION-ANNIVERSARY X-KADDRESSBOOK-X-ANNIVERSARY X-MS-ANNIVERSARY'.split(' '),
);

/** By Android's number for each; `''`: it has its own label. */
const ANDROID_EVENTS = ['', 'anniversary', 'other', 'birthday'];
const ANDROID_RELATIVES =
  ',assistant,brother,child,domestic partner,father,friend,manager,mother,parent,partner,referred by,relative,sister,spouse'.split(
    ',',
  );
const ANDROID_LENGTH = 4_000;
const ANDROID_KIND = /^vnd\.android\.cursor\.item\/(nickname|contact_event|relation)$/;

/** A field for which Android has no property: its kind, its value, a number for its type, a label. */
export function androidFieldOf({ name, value }: VcardLine): (Labelled<string> & { readonly kind: string }) | null {
  if (name !== 'X-ANDROID-CUSTOM' || value.length > ANDROID_LENGTH) return null;
  const [item = '', text = '', type = '', own = ''] = splitValue(value, ';').map((part) => unescapeText(part).trim());
  const kind = ANDROID_KIND.exec(item)?.[1];
  if (kind === undefined || text === '') return null;
  const labels = kind === 'relation' ? ANDROID_RELATIVES : ANDROID_EVENTS;
  return { kind, value: text, label: labels[Number(type)] || own };
}

/** The date in a line, with its label; `null` if it holds no complete one. */
export function dateOf(lines: CardProperties, line: VcardLine): Labelled<string> | null {
  const field = androidFieldOf(line);
  if (field?.kind === 'contact_event') {
    const day = birthdayOf({ ...line, value: field.value });
    return day === '' ? null : { label: field.label, value: day };
  }
  const isDate = line.name === 'X-ABDATE';
  if (!isDate && !ANNIVERSARIES.has(line.name)) return null;
  const value = birthdayOf(line);
  return value === '' ? null : { label: isDate ? (lines.labelOf(line) ?? '') : 'anniversary', value };
}

export function datesOf(lines: CardProperties): Labelled<string>[] {
  return distinct(lines.all.flatMap((line) => dateOf(lines, line) ?? []));
}

export function messengersOf(lines: CardProperties): Labelled<string>[] {
  const found = lines.all.flatMap((line): Labelled<string>[] => {
    const service = MESSENGER_PROPERTIES.get(line.name);
    if (service === undefined && line.name !== 'IMPP') return [];
    const value = unescapeText(line.value).trim();
    if (value === '') return [];
    if (service !== undefined) return [{ label: service, value }];
    const [, scheme = '', address = value] = /^([A-Za-z][\w+.-]*):(?:\/\/)?(.+)$/s.exec(value) ?? [];
    const named = paramOf(line, 'X-SERVICE-TYPE') ?? scheme;
    return [{ label: (named === 'x-apple' ? '' : named).toLowerCase(), value: decoded(address) }];
  });
  return distinct(found);
}

function decoded(address: string): string {
  try {
    return decodeURIComponent(address);
  } catch (error) {
    if (error instanceof URIError) return address;
    throw error;
  }
}

/** Whether a `RELATED` line names somebody, rather than only pointing to another card. */
export function isName(line: VcardLine): boolean {
  return !/^(?:urn:|https?:|data:)/i.test(line.value);
}

const OTHER_RELATIONS: ReadonlySet<string> = new Set(['X-ABRELATEDNAMES', 'RELATED', 'AGENT']);

export function relationsOf(lines: CardProperties): Labelled<string>[] {
  const found = lines.all.flatMap((line): Labelled<string>[] => {
    const field = androidFieldOf(line);
    if (field?.kind === 'relation') return [{ label: field.label, value: field.value }];
    const relation = RELATION_PROPERTIES.get(line.name);
    if (relation === undefined && !OTHER_RELATIONS.has(line.name)) return [];
    const value = unescapeText(line.value).trim();
    if (value === '') return [];
    if (line.name === 'X-ABRELATEDNAMES') return [{ label: lines.labelOf(line) ?? '', value }];
    if (line.name === 'RELATED' && isName(line))
      return [
        {
          label:
            lines.labelOf(line) ??
            typesOf(line)
              .filter((type) => type !== 'pref')
              .join(' '),
          value,
        },
      ];
    if (line.name === 'AGENT') return [{ label: 'agent', value: agentOf(value) }];
    return relation === undefined ? [] : [{ label: relation, value }];
  });
  return distinct(found);
}

/** An agent is a whole card (RFC 2426 §3.5.4): its name, addresses and numbers in one line. */
function agentOf(value: string): string {
  const card = readCardLines(value);
  if (typeof card === 'string') return value;
  const lines = new CardProperties(card.lines);
  const name = lines.text('FN').trim() || nameOf(lines.of('N')[0]);
  const reached = ['EMAIL', 'TEL'].flatMap((property) =>
    lines.of(property).map((line) => unescapeText(line.value).trim()),
  );
  return [name, ...reached].filter((part) => part !== '').join(', ');
}

function nameOf(line: VcardLine | undefined): string {
  const [family = '', given = ''] = line === undefined ? [] : splitValue(line.value, ';').map(unescapeText);
  return `${given} ${family}`.trim();
}

const SEXES: Readonly<Record<string, string>> = { M: 'male', F: 'female', O: 'other', N: 'none', U: 'unknown' };

/** `GENDER:M;text` (RFC 6350 §6.2.7), or what programs wrote before that; the text says more than the letter. */
export function genderOf(lines: CardProperties): string {
  const line = lines.of('GENDER')[0] ?? lines.of('X-GENDER')[0];
  if (line === undefined) return '';
  const [sex = '', text = ''] = splitValue(line.value, ';').map((part) => unescapeText(part).trim());
  return text === '' ? (SEXES[sex.toUpperCase()] ?? sex.toLowerCase()) : text;
}

function distinct(values: readonly Labelled<string>[]): Labelled<string>[] {
  const seen = new Set<string>();
  return values.filter(({ label, value }) => {
    const key = JSON.stringify([label, value]);
    const fresh = !seen.has(key);
    seen.add(key);
    return fresh;
  });
}
