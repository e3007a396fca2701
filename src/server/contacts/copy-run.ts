import { Expectations } from './compare-contacts.ts';
import { digestOf } from './contact-digest.ts';
import type { ContactFates, Fate, Settled } from './contact-fates.ts';
import {
  ContactStoreError,
  blamesOne,
  isBrokenOff,
  isOfOne,
  type ContactReader,
  type ContactWriter,
  type ExistingContact,
  type FillResult,
  type WriteResult,
} from './contact-store.ts';
import type { Contact } from './contact.ts';
import { FailingContacts, type Failing } from './failing-contacts.ts';
import { fillingFor } from './fill.ts';
import { indexOf, indexWith } from './listed-there.ts';
import type { MatchIndex } from './matching.ts';
import type { Part } from './parts.ts';
import { BROKEN_OFF_FILLING, BROKEN_OFF_WRITING, refusedNote } from './remarks.ts';
import { displayNameOf } from './vcard/read-vcard.ts';
import type { Sleep } from './web.ts';

/** How often a batch with an unknown outcome is compared with the destination and written again. */
const BATCH_TRIES = 3;
/** Pause before asking a destination for the outcome of a batch, in milliseconds: some show it only after a moment. */
const LOOK_AFTER = 2_000;

/** A batch is written early once its cards have this total length: photos would fill the memory. */
const BATCH_LENGTH = 16 * 1024 * 1024;

/** `done` counts contacts whose fate is settled; it never decreases, and ends at `total`. */
type ContactProgress = { readonly total: number; readonly done: number };

export type ContactCopy = {
  readonly reader: ContactReader;
  readonly writer: ContactWriter;
  readonly fates: ContactFates;
  readonly signal: AbortSignal;
  readonly sleep: Sleep;
  readonly onProgress?: (progress: ContactProgress) => void;
  /** Whether no run follows if this one fails like this. */
  readonly isLastTry?: (error: ContactStoreError) => boolean;
};

/** One run of a copy: what became of each contact, and which ones the destination fails at. */
export class CopyRun {
  readonly #copy: ContactCopy;
  readonly #total: number;
  readonly #index: MatchIndex;
  readonly #sourceUids: ReadonlySet<string>;
  readonly #known: ReadonlyMap<string, Fate>;
  /** By UID; `null`: by an earlier run. */
  readonly #settled = new Map<string, Settled | null>();
  readonly expectations = new Expectations();
  /** Under which contacts were settled while they could not be read, by UID. */
  readonly #unreadable = new Map<string, string>();
  #batch: Contact[] = [];
  readonly #failing = new FailingContacts();
  #hasWritten = false;
  /** Whether an earlier run has. */
  readonly #hadWritten: boolean;

  constructor(
    copy: ContactCopy,
    total: number,
    index: MatchIndex,
    sourceUids: ReadonlySet<string>,
    known: ReadonlyMap<string, Fate>,
  ) {
    this.#copy = copy;
    this.#total = total;
    this.#index = index;
    this.#sourceUids = sourceUids;
    this.#known = known;
    for (const [uid, { fate }] of known) if (fate !== 'intent') this.#settled.set(uid, null);
    this.#hadWritten = [...known.values()].some(({ fate }) => fate === 'copied' || fate === 'completed');
    // Before any other contact can be matched with these.
    for (const { destinationId } of known.values()) if (destinationId !== '') index.claimById(destinationId);
    this.#tell();
  }

  async contact(contact: Contact, id = ''): Promise<void> {
    const { uid } = contact;
    if (this.#settled.has(id)) this.#unreadable.set(uid, id);
    const known = this.#known.get(uid);
    if (known !== undefined && known.fate !== 'intent') {
      const now = this.#settled.get(uid) ?? null;
      if (now === null) this.expectations.add(contact, known);
      await this.#readAfterAll([uid]);
      const { digest = '' } = now ?? known;
      if (digest !== '' && digest !== digestOf(contact)) await this.#changed(contact);
      return;
    }
    if (this.#settled.has(uid) || this.#batch.some((one) => one.uid === uid)) {
      await this.#changed(contact);
      return;
    }
    if (this.#failing.renew(contact)) return;
    const meant = known === undefined || known.destinationId === '' ? null : this.#index.claimById(known.destinationId);
    const match = meant === null ? this.#index.claim(contact) : { existing: meant, by: 'likeness' as const };
    const isOurs = match?.by === 'uid' && known !== undefined;
    if (match !== null && !isOurs) await this.#fill(contact, match.existing, known !== undefined);
    else if (match === null || !(await this.#written(contact, match.existing))) {
      this.#batch.push(contact);
      const length = this.#batch.reduce((sum, { vcard }) => sum + vcard.length, 0);
      if (this.#batch.length >= this.#copy.writer.batchSize || length >= BATCH_LENGTH) await this.flush();
    }
  }

  async flush(): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    if (batch.length === 0) return;
    await this.#copy.fates.intend(batch.map(({ uid }) => ({ uid, destinationId: '' })));
    await this.#write(batch);
  }

  /**
   * For those that none has followed which was accepted. If nothing at all was written, no contact is to blame, and the
   * next run tries them again, if there is one.
   */
  async settleFailing(): Promise<void> {
    if (this.#failing.errors().some(isBrokenOff)) {
      await this.#requireAnswer();
      this.#failing.answered();
    }
    const errors = this.#failing.errors();
    // Asked for all of them at once: telling of the first one is progress.
    const isLast = this.#hadWritten && errors.every((error) => this.#copy.isLastTry?.(error) === true);
    const [first] = errors;
    if (first !== undefined && !this.#hasWritten && !isLast) throw first;
    await this.#tellFailing();
  }

  async #tellFailing(): Promise<void> {
    for (const { contact, error, there } of this.#failing.take()) {
      if (there === undefined) await this.#refused(contact, error);
      else await this.#leftAsItIs(contact, error, there);
    }
  }

  /** Where a destination is gone, it is not the contact at which the connection broke. */
  async #requireAnswer(): Promise<void> {
    const { writer, signal } = this.#copy;
    for await (const _ of writer.existing(signal)) return;
  }

  /** A remark about a group; it counts for no contact. */
  async group(group: Parameters<ContactWriter['group']>[0]): Promise<void> {
    await this.flush();
    if (this.#known.has(`group ${group.uid}`)) return;
    const members = group.members.map((member) => this.#uidThere(member));
    const remarks = await this.#copy.writer.group({ ...group, members }, this.#copy.signal);
    await this.#copy.fates.settle([{ uid: `group ${group.uid}`, fate: 'group', name: group.name, remarks }]);
  }

  /** The UID of a contact's counterpart, which may be another. */
  #uidThere(uid: string): string {
    const { destinationId = '' } = this.#settled.get(uid) ?? this.#known.get(uid) ?? {};
    return (destinationId === '' ? '' : this.#index.claimById(destinationId)?.uid) || uid;
  }

  async settle(settled: readonly Settled[]): Promise<void> {
    const fresh = settled.filter(({ uid }) => !this.#settled.has(uid));
    await this.#copy.fates.settle(fresh);
    for (const one of fresh) this.#settled.set(one.uid, one);
    await this.#readAfterAll(fresh.map(({ uid }) => uid));
    this.#tell();
  }

  async #readAfterAll(uids: readonly string[]): Promise<void> {
    const ids = uids.flatMap((uid) => this.#unreadable.get(uid) ?? []).filter((id) => this.#settled.has(id));
    if (ids.length === 0) return;
    await this.#copy.fates.forget(ids);
    for (const id of ids) this.#settled.delete(id);
  }

  /** The source may have changed since the survey; `total` is then adjusted to what was read. */
  finish(): void {
    const done = this.#settled.size;
    this.#copy.onProgress?.({ total: done, done });
  }

  /**
   * It was changed at the source while being read, or since an earlier run: what is new is added to the copy, or to what
   * stands for it.
   */
  async #changed(contact: Contact): Promise<void> {
    const { writer, fates, signal } = this.#copy;
    await this.flush();
    const { uid } = contact;
    const settled = this.#settled.get(uid) ?? null;
    const before = settled ?? this.#known.get(uid) ?? null;
    if (before === null || before.fate === 'refused' || before.fate === 'intent') return;
    const { destinationId = '', stays = [] } = before;
    const likeness = this.expectations.likenessOf(uid) ?? contact;
    // If nothing can be added, the comparison at the end says so.
    this.expectations.add(contact, { fate: before.fate, destinationId, stays });
    // What an earlier run has written was listed when this one began.
    const index = settled === null ? this.#index : await indexOf(writer, this.#sourceUids, signal);
    const own = destinationId === '' ? index.ofUid(uid) : index.claimById(destinationId);
    const existing = own ?? (destinationId === '' ? this.#writtenAs(likeness, index) : null);
    const result = existing === null ? null : await this.#refilled(existing, contact);
    if (result === null || result.outcome === 'gone') return;
    const now = {
      uid,
      name: displayNameOf(contact),
      digest: digestOf(contact),
      fate: before.fate === 'present' && result.outcome === 'filled' ? 'completed' : before.fate,
      remarks: [...new Set([...before.remarks, ...result.notes])],
      destinationId: own === null ? (existing?.id ?? '') : destinationId,
      stays: [...new Set([...stays, ...result.stays])],
    } as const;
    await fates.settle([now]);
    this.#settled.set(uid, now);
    this.expectations.add(contact, now);
  }

  /** What was written for a contact where the destination has given it a UID of its own. */
  #writtenAs(likeness: Contact, index: MatchIndex): ExistingContact | null {
    for (const fate of [...this.#known.values(), ...this.#settled.values()])
      if (fate?.destinationId !== undefined && fate.destinationId !== '') index.claimById(fate.destinationId);
    return index.claim(likeness)?.existing ?? null;
  }

  /** `null` if the destination fails at this contact, and not at several in a row. */
  async #refilled(existing: ExistingContact, contact: Contact): Promise<FillResult | null> {
    const result = await this.#fillOrFail(existing, contact);
    if (result instanceof ContactStoreError) {
      this.#failing.count(result);
      return null;
    }
    if (result.outcome === 'filled') this.#failing.endRow();
    return result;
  }

  /** Once more where the connection broke. @returns what the destination fails with at this contact */
  async #fillOrFail(existing: ExistingContact, contact: Contact): Promise<FillResult | ContactStoreError> {
    for (let isAgain = false; ; isAgain = true)
      try {
        return await this.#copy.writer.fill(existing, contact, this.#copy.signal);
      } catch (error) {
        if (!(error instanceof ContactStoreError)) throw error;
        const isBroken = isBrokenOff(error);
        if (!blamesOne(error) && !isBroken) throw error;
        if (isAgain || !isBroken) return error;
        await this.#requireAnswer();
      }
  }

  /** Written by a run that was stopped before noting it; the photo may be missing. `false`: it was deleted. */
  async #written(contact: Contact, existing: ExistingContact): Promise<boolean> {
    const { writer } = this.#copy;
    const result = await this.#filled(contact, { existing, fate: 'copied' });
    if (result === null) return true;
    if (result.outcome === 'gone') return false;
    await this.#note(contact, 'copied', '', result.stays, [...new Set([...writer.notesOn(contact), ...result.notes])]);
    return true;
  }

  async #fill(contact: Contact, existing: ExistingContact, wasMeant: boolean): Promise<void> {
    await this.#copy.fates.intend([{ uid: contact.uid, destinationId: existing.id }]);
    const result = await this.#filled(contact, { existing, fate: 'present' });
    if (result === null) return;
    if (result.outcome === 'gone') {
      this.#batch.push(contact);
      return;
    }
    if (result.outcome === 'filled') this.#tookOne();
    const isFilled = result.outcome === 'filled' || wasMeant;
    await this.#note(contact, isFilled ? 'completed' : 'present', existing.id, result.stays, [...result.notes]);
  }

  /** `null` if the destination fails at this contact; how the others fare then decides its fate. */
  async #filled(contact: Contact, there: NonNullable<Failing['there']>): Promise<FillResult | null> {
    const result = await this.#fillOrFail(there.existing, contact);
    if (!(result instanceof ContactStoreError)) return result;
    // A destination that says so works, however many of its contacts are being changed.
    if (result.status === 412) await this.#leftAsItIs(contact, result, there);
    else this.#failing.add({ contact, error: result, there });
    return null;
  }

  async #write(batch: readonly Contact[]): Promise<void> {
    const { writer, signal, sleep } = this.#copy;
    let left = batch;
    for (let attempt = 1; left.length > 0; attempt += 1) {
      try {
        await this.#results(left, await writer.write(left, signal));
        // A restart would find nothing but these, and could not tell whether the destination fails at all contacts.
        if (!this.#failing.isInARow) await this.#tellFailing();
        return;
      } catch (error) {
        if (!(error instanceof ContactStoreError)) throw error;
        const isOver = attempt >= BATCH_TRIES;
        if (isOver && !isOfOne(error) && !isBrokenOff(error)) throw error;
        if (error.fault !== 'unavailable' && error.fault !== 'refused') throw error;
        // A destination that asks for a pause is left to the next run, which also looks first.
        if (error.pause !== undefined) throw error;
        // It is unknown which of them arrived: look, so that none is written twice.
        if (error.fault === 'unavailable') await sleep(LOOK_AFTER * attempt, signal);
        const isLookedFor = error.fault === 'unavailable' && (attempt === 1 || isOver);
        const written = isLookedFor ? left.map(({ uid }) => uid) : [];
        const index = await indexWith(written, this.#copy, this.#sourceUids);
        const missing: Contact[] = [];
        for (const contact of left) {
          const existing = index.ofUid(contact.uid);
          if (existing === null || !(await this.#written(contact, existing))) missing.push(contact);
        }
        left = missing;
        // Several of which one breaks the connection would do so each time.
        if (error.fault === 'refused' || isOver || (isBrokenOff(error) && left.length > 1)) {
          await this.#divide(left, error);
          return;
        }
      }
    }
  }

  /**
   * A batch that was refused, or failed, as a whole: halves are tried until the contact to blame is alone.
   */
  async #divide(batch: readonly Contact[], error: ContactStoreError): Promise<void> {
    const [contact] = batch;
    if (contact === undefined) return;
    if (batch.length === 1) {
      if (error.fault === 'refused') return this.#refused(contact, error);
      this.#failing.add({ contact, error });
      return;
    }
    const middle = Math.ceil(batch.length / 2);
    await this.#write(batch.slice(0, middle));
    await this.#write(batch.slice(middle));
  }

  async #leftAsItIs(
    contact: Contact,
    error: ContactStoreError,
    { existing, fate }: NonNullable<Failing['there']>,
  ): Promise<void> {
    const { added, stays } = fillingFor(existing, contact);
    const note = isBrokenOff(error) ? BROKEN_OFF_FILLING : refusedNote(error.status ?? 0);
    await this.#note(contact, fate, fate === 'copied' ? '' : existing.id, [...stays, ...added], [note]);
  }

  async #refused(contact: Contact, error: ContactStoreError): Promise<void> {
    const how = error.status === undefined ? '' : ` (${error.status})`;
    const reason = isBrokenOff(error) ? BROKEN_OFF_WRITING : `Your new address book refused this contact${how}.`;
    await this.#results([contact], [{ outcome: 'skipped', reason }]);
  }

  async #results(contacts: readonly Contact[], results: readonly WriteResult[]): Promise<void> {
    const settled = contacts.map((contact, at): Settled => {
      const result = results[at];
      if (result === undefined)
        throw new ContactStoreError('unexpected', 'the destination did not say what became of a contact');
      const isWritten = result.outcome === 'written';
      if (isWritten) this.#tookOne();
      const one = {
        uid: contact.uid,
        fate: isWritten ? ('copied' as const) : ('refused' as const),
        destinationId: '',
        name: displayNameOf(contact),
        remarks: isWritten ? result.notes : [result.reason],
        stays: isWritten ? result.stays : [],
        digest: digestOf(contact),
      };
      this.expectations.add(contact, one);
      return one;
    });
    await this.settle(settled);
  }

  async #note(
    contact: Contact,
    fate: 'copied' | 'completed' | 'present',
    destinationId: string,
    stays: readonly Part[],
    remarks: readonly string[],
  ): Promise<void> {
    if (fate === 'copied') this.#tookOne();
    this.expectations.add(contact, { fate, destinationId, stays });
    const digest = digestOf(contact);
    await this.settle([
      { uid: contact.uid, fate, destinationId, name: displayNameOf(contact), remarks, stays, digest },
    ]);
  }

  #tookOne(): void {
    this.#hasWritten = true;
    this.#failing.endRow();
  }

  #tell(): void {
    const done = this.#settled.size;
    this.#copy.onProgress?.({ total: Math.max(this.#total, done), done });
  }
}
