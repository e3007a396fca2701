import { setImmediate as turn } from 'node:timers/promises';
import type { Contact } from '../../contract/contact.ts';
import type { ContactFates, Fate } from './contact-fates.ts';
import type { ContactWriter, ExistingContact } from './contact-store.ts';
import { Held } from './fill.ts';
import { itemsOf, partsInWords, type Item } from './parts.ts';
import type { Sleep } from './web.ts';

/** What the final comparison found: contacts that are not there, there twice, or there without something. */
export type Compared = { readonly lost: number; readonly duplicated: number; readonly changed: number };

/** Pauses before a destination that does not show everything is read again, in milliseconds: Google may take a while. */
const PAUSES = [5_000, 20_000, 60_000];

type Known = Pick<Fate, 'fate' | 'destinationId' | 'stays'>;
type Expected = Known & { readonly items: readonly Item[] };

/** What has to be at the destination when the copy has ended. */
export class Expectations {
  readonly #byUid = new Map<string, Expected>();

  add(contact: Contact, { fate, destinationId, stays }: Known): void {
    if (fate === 'refused' || fate === 'intent' || fate === 'group') return;
    const items = itemsOf(contact).filter(
      ({ part, value }) => !stays.includes(part) && (value !== '' || part === 'photo'),
    );
    this.#byUid.set(contact.uid, { fate, destinationId, stays, items });
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

/** Reads the destination and compares it value by value with what was to be there. Differences become remarks. */
export async function compareContacts(comparison: Comparison): Promise<Compared> {
  const { writer, fates, expectations, sourceUids, sleep, signal } = comparison;
  const expected = expectations.entries();
  let shelf = await shelfOf(writer, sourceUids, signal);
  const missing = () => expected.filter(([uid, known]) => shelf.find(uid, known) === undefined);
  for (const pause of PAUSES) {
    if (missing().length === 0) break;
    await sleep(pause, signal);
    shelf = await shelfOf(writer, sourceUids, signal);
  }
  const remarks: { uid: string; remark: string }[] = [];
  let changed = 0;
  for (const [uid, known] of expected) {
    await turn();
    const existing = shelf.find(uid, known);
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
  readonly find: (uid: string, known: Known) => ExistingContact | undefined;
  /** Contacts of ours that are there more than once. */
  readonly duplicated: number;
};

async function shelfOf(
  writer: Comparison['writer'],
  sourceUids: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Shelf> {
  const byUid = new Map<string, ExistingContact>();
  const byId = new Map<string, ExistingContact>();
  const twice = new Set<string>();
  for await (const existing of writer.existing(signal)) {
    // A listing shows one twice when others come or go between its pages.
    if (byId.has(existing.id)) continue;
    byId.set(existing.id, existing);
    if (!sourceUids.has(existing.uid)) continue;
    if (byUid.has(existing.uid)) twice.add(existing.uid);
    byUid.set(existing.uid, existing);
  }
  return {
    find: (uid, { destinationId }) => (destinationId === '' ? byUid.get(uid) : byId.get(destinationId)),
    duplicated: twice.size,
  };
}
