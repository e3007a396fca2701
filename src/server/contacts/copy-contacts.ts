import type { Contact } from '../../contract/contact.ts';
import type { Skipped } from '../../contract/calls/status.ts';
import {
  CONTACTS_MAILBOX,
  ContactStoreError,
  type ContactReader,
  type ContactWriter,
  type WriteResult,
} from './contact-store.ts';
import { MatchIndex, missingIn } from './matching.ts';
import { displayNameOf } from './vcard/read-vcard.ts';

/** How often a batch is compared with the destination and written again, when nobody knows what became of it. */
const BATCH_TRIES = 3;

/** A batch is written when its cards have this length together, full or not: photos would fill the memory. */
const BATCH_LENGTH = 16 * 1024 * 1024;

/** Something of a contact that the destination could not take, or has in its own way; for the subscriber. */
type ContactNote = { readonly contact: string; readonly note: string };

/** `done` counts what was written, found and skipped; it never falls, and ends at `total`. */
type ContactProgress = { readonly total: number; readonly done: number };

export type CopiedContacts = {
  readonly total: number;
  readonly written: number;
  readonly matched: number;
  readonly skipped: readonly Skipped[];
  readonly notes: readonly ContactNote[];
};

export type ContactCopy = {
  readonly reader: ContactReader;
  readonly writer: ContactWriter;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: ContactProgress) => void;
};

/**
 * Copies every contact of the source that the destination does not hold yet. Needs no memory of earlier runs: what they
 * wrote is found again, so after any interruption it is called anew, and a second run writes nothing.
 * @throws {ContactStoreError} when a store refuses or is gone; what was written until then stays
 */
export async function copyContacts({ reader, writer, signal, onProgress }: ContactCopy): Promise<CopiedContacts> {
  const survey = await reader.survey(signal);
  const tally = new Tally(survey.total, onProgress);
  const index = await indexOf(writer, survey.uids, signal);
  const seen = new Set<string>();
  let batch: Contact[] = [];
  const flush = async () => {
    await writeBatch(batch, { writer, sourceUids: survey.uids, tally, signal });
    batch = [];
  };

  for await (const reading of reader.contacts(signal)) {
    signal.throwIfAborted();
    if (reading.kind === 'skipped') {
      tally.skip(reading.skipped);
      continue;
    }
    const { contact } = reading;
    const match = seen.has(contact.uid) ? null : index.claim(contact);
    if (seen.has(contact.uid)) tally.match(contact, []);
    else if (match === null) batch.push(contact);
    else if (match.by === 'uid') tally.match(contact, await writer.complete(match.existing, contact, signal));
    else {
      const missing = missingIn(match.existing, contact);
      tally.match(contact, missing.length === 0 ? [] : [`was there already; not added to it: ${missing.join(', ')}`]);
    }
    seen.add(contact.uid);
    const length = batch.reduce((sum, { vcard }) => sum + vcard.length, 0);
    if (batch.length >= writer.batchSize || length >= BATCH_LENGTH) await flush();
  }
  if (batch.length > 0) await flush();
  return tally.result();
}

async function indexOf(writer: ContactWriter, uids: ReadonlySet<string>, signal: AbortSignal): Promise<MatchIndex> {
  const index = new MatchIndex(uids);
  for await (const existing of writer.existing(signal)) index.add(existing);
  return index;
}

type BatchContext = {
  readonly writer: ContactWriter;
  readonly sourceUids: ReadonlySet<string>;
  readonly tally: Tally;
  readonly signal: AbortSignal;
};

async function writeBatch(batch: readonly Contact[], context: BatchContext): Promise<void> {
  const { writer, sourceUids, tally, signal } = context;
  let left = batch;
  for (let attempt = 1; left.length > 0; attempt += 1) {
    try {
      tally.write(left, await writer.write(left, signal));
      return;
    } catch (error) {
      if (!(error instanceof ContactStoreError) || error.fault === 'authentication' || attempt >= BATCH_TRIES)
        throw error;
      if (error.fault === 'unexpected') throw error;
      // Nobody knows which of them arrived: ask, so that none is written twice.
      const index = await indexOf(writer, sourceUids, signal);
      const missing: Contact[] = [];
      for (const contact of left) {
        const match = index.claim(contact);
        if (match?.by === 'uid') tally.write([contact], [await completed(writer, match.existing, contact, signal)]);
        else missing.push(contact);
      }
      left = missing;
      if (error.fault === 'refused') {
        await divide(left, error, context);
        return;
      }
    }
  }
}

/** A batch that was refused as a whole: halves are tried until the contact that is to blame stands alone. */
async function divide(batch: readonly Contact[], error: ContactStoreError, context: BatchContext): Promise<void> {
  const [first] = batch;
  if (first === undefined) return;
  if (batch.length === 1) {
    const reason = `The destination refused this contact${error.status === undefined ? '' : ` (${error.status})`}.`;
    context.tally.write(batch, [{ outcome: 'skipped', reason }]);
    return;
  }
  const middle = Math.ceil(batch.length / 2);
  await writeBatch(batch.slice(0, middle), context);
  await writeBatch(batch.slice(middle), context);
}

async function completed(
  writer: ContactWriter,
  existing: Parameters<ContactWriter['complete']>[0],
  contact: Contact,
  signal: AbortSignal,
): Promise<WriteResult> {
  return { outcome: 'written', notes: await writer.complete(existing, contact, signal) };
}

class Tally {
  readonly #total: number;
  readonly #onProgress: ((progress: ContactProgress) => void) | undefined;
  #written = 0;
  #matched = 0;
  readonly #skipped: Skipped[] = [];
  readonly #notes: ContactNote[] = [];

  constructor(total: number, onProgress: ((progress: ContactProgress) => void) | undefined) {
    this.#total = total;
    this.#onProgress = onProgress;
    this.#tell();
  }

  write(contacts: readonly Contact[], results: readonly WriteResult[]): void {
    for (const [at, contact] of contacts.entries()) {
      const result = results[at];
      if (result === undefined)
        throw new ContactStoreError('unexpected', 'the destination did not say what became of a contact');
      if (result.outcome === 'written') {
        this.#written += 1;
        this.#note(contact, result.notes);
      } else {
        const subject = displayNameOf(contact);
        this.#skipped.push({
          mailbox: CONTACTS_MAILBOX,
          reason: result.reason,
          ...(subject === '' ? {} : { subject }),
        });
      }
    }
    this.#tell();
  }

  match(contact: Contact, notes: readonly string[]): void {
    this.#matched += 1;
    this.#note(contact, notes);
    this.#tell();
  }

  skip(skipped: Skipped): void {
    this.#skipped.push(skipped);
    this.#tell();
  }

  /** The source may have changed since it was counted; `total` then follows what was read. */
  result(): CopiedContacts {
    return {
      total: this.#done(),
      written: this.#written,
      matched: this.#matched,
      skipped: this.#skipped,
      notes: this.#notes,
    };
  }

  #note(contact: Contact, notes: readonly string[]): void {
    for (const note of notes) this.#notes.push({ contact: displayNameOf(contact), note });
  }

  #done(): number {
    return this.#written + this.#matched + this.#skipped.length;
  }

  #tell(): void {
    const done = this.#done();
    this.#onProgress?.({ total: Math.max(this.#total, done), done });
  }
}
