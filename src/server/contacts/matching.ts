import { createHash } from 'node:crypto';
import type { ExistingContact } from './contact-store.ts';
import type { Contact } from './contact.ts';
import { nameKey, phoneKey, textKey } from './keys.ts';
import { displayNameOf } from './vcard/read-vcard.ts';

export type Match = { readonly existing: ExistingContact; readonly by: 'uid' | 'likeness' };

type Keys = {
  readonly uid: string;
  readonly names: ReadonlySet<string>;
  readonly emails: ReadonlySet<string>;
  readonly phones: ReadonlySet<string>;
};
type Entry = Keys & { readonly existing: ExistingContact };

/** How many values of theirs are compared with one of ours: thousands may be alike, and others wait meanwhile. */
const COMPARED_AT_MOST = 5_000;

/**
 * What the destination holds, for finding the counterpart of a source contact. One of theirs is the counterpart of at most
 * one of ours, so that two people who share an address, or two cards of one person, both arrive:
 * 1. the one that was written for it (same UID);
 * 2. a shared email address, and a shared name or one of them without a name;
 * 3. a shared phone number and name;
 * 4. a shared name, when neither has an address or a number.
 * Of several, the one that has most in common. Those written for another contact of this source are reserved for that one.
 */
export class MatchIndex {
  readonly #sourceUids: ReadonlySet<string>;
  readonly #byUid = new Map<string, Entry>();
  readonly #byId = new Map<string, Entry>();
  /** Without those that are claimed. */
  readonly #byEmail = new Map<string, Set<Entry>>();
  readonly #byPhone = new Map<string, Set<Entry>>();
  readonly #byName = new Map<string, Set<Entry>>();
  /** Those that have neither an address nor a number. */
  readonly #byNameAlone = new Map<string, Set<Entry>>();

  constructor(sourceUids: ReadonlySet<string>) {
    this.#sourceUids = sourceUids;
  }

  add(existing: ExistingContact): void {
    // A listing repeats a contact if others are added or deleted between its pages.
    if (this.#byId.has(existing.id)) return;
    const entry: Entry = { existing, ...keysOf({ ...existing.contact, uid: existing.uid }) };
    this.#byId.set(existing.id, entry);
    if (this.#sourceUids.has(entry.uid) && !this.#byUid.has(entry.uid)) {
      this.#byUid.set(entry.uid, entry);
      return;
    }
    for (const [index, keys] of this.#indexesOf(entry)) for (const key of keys) put(index, key, entry);
  }

  /** Assigns an entry to the contact that had it in an earlier run; `null` if it no longer exists. */
  claimById(id: string): ExistingContact | null {
    const entry = this.#byId.get(id);
    if (entry === undefined) return null;
    this.#take(entry);
    return entry.existing;
  }

  /** The entry that was written for a contact, if any. */
  ofUid(uid: string): ExistingContact | null {
    return this.#byUid.get(uid)?.existing ?? null;
  }

  /** A contact's counterpart, if any; no other contact can claim it afterwards. */
  claim(contact: Contact): Match | null {
    const own = this.#byUid.get(contact.uid);
    if (own !== undefined) return { existing: own.existing, by: 'uid' };
    const keys = keysOf(contact);
    let best: Entry | null = null;
    let [likeness, compared] = [0, 0];
    for (const entry of this.#candidatesFor(keys)) {
      const score = likenessOf(keys, entry);
      if (score > likeness) [best, likeness] = [entry, score];
      compared += 1 + entry.emails.size + entry.phones.size;
      if (compared > COMPARED_AT_MOST) break;
    }
    if (best === null) return null;
    this.#take(best);
    return { existing: best.existing, by: 'likeness' };
  }

  /** Those with which it has enough in common to be the same, of however many that have a part of it. */
  *#candidatesFor({ names, emails, phones }: Keys): Iterable<Entry> {
    for (const name of names) {
      const named = this.#byName.get(name);
      for (const email of emails) yield* inBoth(named, this.#byEmail.get(email));
      for (const phone of phones) yield* inBoth(named, this.#byPhone.get(phone));
      if (emails.size + phones.size === 0) yield* this.#byNameAlone.get(name) ?? [];
    }
    for (const email of emails)
      for (const entry of this.#byEmail.get(email) ?? []) if (names.size === 0 || entry.names.size === 0) yield entry;
  }

  #take(entry: Entry): void {
    for (const [index, keys] of this.#indexesOf(entry)) for (const key of keys) index.get(key)?.delete(entry);
  }

  #indexesOf({ names, emails, phones }: Keys): readonly (readonly [Map<string, Set<Entry>>, ReadonlySet<string>])[] {
    return [
      [this.#byEmail, emails],
      [this.#byPhone, phones],
      [this.#byName, names],
      ...(emails.size + phones.size === 0 ? [[this.#byNameAlone, names] as const] : []),
    ];
  }
}

function* inBoth(one: ReadonlySet<Entry> | undefined, other: ReadonlySet<Entry> | undefined): Iterable<Entry> {
  if (one === undefined || other === undefined) return;
  const [few, many] = one.size < other.size ? [one, other] : [other, one];
  for (const entry of few) if (many.has(entry)) yield entry;
}

/** How much two contacts have in common; 0 if they are not the same. */
function likenessOf(a: Keys, b: Keys): number {
  const names = common(a.names, b.names);
  const emails = common(a.emails, b.emails);
  const phones = common(a.phones, b.phones);
  const size = a.emails.size + a.phones.size + b.emails.size + b.phones.size;
  const score = 1 + Math.min(names, 1) + emails + phones + 1 / (1 + size - 2 * (emails + phones));
  if (emails > 0 && (names > 0 || a.names.size === 0 || b.names.size === 0)) return score;
  return names > 0 && (phones > 0 || size === 0) ? score : 0;
}

function common(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const [few, many] = a.size < b.size ? [a, b] : [b, a];
  return [...few].filter((key) => many.has(key)).length;
}

function keysOf(contact: Contact): Keys {
  const { formatted, given, middle, family } = contact.name;
  const emails = present(contact.emails.map(({ value }) => textKey(value)));
  const names = [
    formatted,
    `${given} ${family}`,
    `${given} ${middle} ${family}`,
    formatted === '' ? displayNameOf(contact) : '',
  ];
  return {
    uid: contact.uid,
    // Some programs use the address as the name if there is none.
    names: present(names.filter((name) => !emails.has(textKey(name))).map(nameKey)),
    emails,
    phones: present(contact.phones.map(({ value }) => phoneKey(value))),
  };
}

function present(texts: readonly string[]): Set<string> {
  return new Set(texts.filter((text) => text !== ''));
}

function put(map: Map<string, Set<Entry>>, key: string, entry: Entry): void {
  map.set(key, (map.get(key) ?? new Set()).add(entry));
}

/** A UID that is the same in every run, for a card that has none or shares one. */
export function derivedUid(...parts: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  // The layout of a UUID of version 8 (RFC 9562 §5.8), for stores that require UUIDs.
  const variant = ((Number.parseInt(hash.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `${variant}${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join('-');
}
