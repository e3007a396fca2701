import { setImmediate as turn } from 'node:timers/promises';
import type { ContactFates, Fate } from './contact-fates.ts';
import type { ContactWriter, ExistingContact } from './contact-store.ts';
import { BLANK_CONTACT, type Contact } from './contact.ts';
import { Held } from './fill.ts';
import { MatchIndex } from './matching.ts';
import { itemsOf, partsInWords, type Item } from './parts.ts';
import type { Sleep } from './web.ts';

/** What the final comparison found: contacts that are missing, duplicated, or incomplete. */
export type Compared = { readonly lost: number; readonly duplicated: number; readonly changed: number };

/** Pauses before an incomplete destination is read again, in milliseconds: Google may show contacts only after a while. */
const PAUSES = [5_000, 20_000, 60_000];

type Known = Pick<Fate, 'fate' | 'destinationId' | 'stays'>;
/** `likeness`: what it is known by where a destination gives it a UID of its own. */
type Expected = Known & { readonly items: readonly Item[]; readonly likeness: Contact };

/** What the destination must hold at the end of the copy. */
export class Expectations {
  readonly #byUid = new Map<string, Expected>();

  add(contact: Contact, { fate, destinationId, stays }: Known): void {
    if (fate === 'refused' || fate === 'intent' || fate === 'group') return;
    const items = itemsOf(contact).filter(
      ({ part, value }) => !stays.includes(part) && (value !== '' || part === 'photo'),
    );
    const { uid, name, organization, nickname, emails, phones } = contact;
    const likeness = { ...BLANK_CONTACT, uid, name, organization, nickname, emails, phones };
    this.#byUid.set(uid, { fate, destinationId, stays, items, likeness });
  }

  /** What a contact looked like when it was last added. */
  likenessOf(uid: string): Contact | undefined {
    return this.#byUid.get(uid)?.likeness;
  }

  entries(): [string, Expected][] {
    return [...this.#byUid];
  }
}

export type Comparison = {
  readonly writer: Pick<ContactWriter, 'existing'>;
  readonly fates: Pick<ContactFates, 'remark'>;
  readonly expectations: Expectations;
  readonly sourceUids: ReadonlySet<string>;
  readonly sleep: Sleep;
  readonly signal: AbortSignal;
};

/** Reads the destination and compares it with the expectations, value by value. Differences become remarks. */
export async function compareContacts(comparison: Comparison): Promise<Compared> {
  const { writer, fates, expectations, sourceUids, sleep, signal } = comparison;
  const expected = expectations.entries();
  let shelf = await shelfOf(writer, expected, sourceUids, signal);
  const missing = () => expected.filter(([uid]) => !shelf.found.has(uid));
  for (const pause of PAUSES) {
    if (missing().length === 0) break;
    await sleep(pause, signal);
    shelf = await shelfOf(writer, expected, sourceUids, signal);
  }
  const remarks: { uid: string; remark: string }[] = [];
  let changed = 0;
  for (const [uid, known] of expected) {
    await turn();
    const existing = shelf.found.get(uid);
    if (existing === undefined) {
      remarks.push({ uid, remark: 'This contact was not found there in the end.' });
      continue;
    }
    const held = new Held(existing);
    const differing = known.items.filter(
      (item) => (item.part !== 'photo' || existing.hasPhoto === false) && !held.has(item),
    );
    if (differing.length === 0) continue;
    changed += 1;
    remarks.push({
      uid,
      remark: `Your new address book holds these in another form: ${partsInWords(differing.map(({ part }) => part))}.`,
    });
  }
  await fates.remark(remarks);
  return { lost: missing().length, duplicated: shelf.duplicated, changed };
}

type Shelf = {
  /** By the UIDs of the expected contacts. */
  readonly found: ReadonlyMap<string, ExistingContact>;
  /** Contacts of ours that are there more than once. */
  readonly duplicated: number;
};

async function shelfOf(
  writer: Comparison['writer'],
  expected: readonly [string, Expected][],
  sourceUids: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Shelf> {
  const byUid = new Map<string, ExistingContact>();
  const byId = new Map<string, ExistingContact>();
  const twice = new Set<string>();
  const others = new MatchIndex(new Set());
  for await (const existing of writer.existing(signal)) {
    // A listing repeats a contact if others are added or deleted between its pages.
    if (byId.has(existing.id)) continue;
    byId.set(existing.id, existing);
    if (!sourceUids.has(existing.uid)) {
      others.add(existing);
      continue;
    }
    if (byUid.has(existing.uid)) twice.add(existing.uid);
    byUid.set(existing.uid, existing);
  }
  const found = new Map<string, ExistingContact>();
  const unfound: [string, Expected][] = [];
  let duplicated = 0;
  for (const [uid, known] of expected) {
    // Those that were there before may have been there twice.
    if (known.destinationId === '' && twice.has(uid)) duplicated += 1;
    const existing = known.destinationId === '' ? byUid.get(uid) : byId.get(known.destinationId);
    if (existing !== undefined) {
      found.set(uid, existing);
      others.claimById(existing.id);
    } else if (known.destinationId === '') unfound.push([uid, known]);
  }
  // No existing contact resembled them before they were written, so a match now is the written one.
  for (const [uid, { likeness }] of unfound) {
    const match = others.claim(likeness);
    if (match !== null) found.set(uid, match.existing);
    await turn();
  }
  return { found, duplicated };
}
