import { fromThere, isBrokenOff, type ContactStoreError, type ExistingContact } from './contact-store.ts';
import type { Contact } from './contact.ts';

/** Failures in a row, with nothing written in between, that may be the contacts'; one more is the destination's. */
const IN_A_ROW_AT_MOST = 4;

/** A single contact at which the destination failed; `there`: what was to be filled, and how it counts in that case. */
export type Failing = {
  readonly contact: Contact;
  readonly error: ContactStoreError;
  readonly there?: { readonly existing: ExistingContact; readonly fate: 'copied' | 'present' };
};

/** Failures that are not yet known to be the contacts'. */
export class FailingContacts {
  #all: readonly Failing[] = [];
  #inARow = 0;

  get isInARow(): boolean {
    return this.#inARow > 0;
  }

  errors(): readonly ContactStoreError[] {
    return this.#all.map(({ error }) => error);
  }

  /** @throws {ContactStoreError} if it is the destination's fault */
  add(failing: Failing): void {
    this.count(failing.error);
    this.#all = [...this.#all, failing];
  }

  /** Of a contact that is not told of. @throws as {@link add} does */
  count(error: ContactStoreError): void {
    if (this.#inARow >= IN_A_ROW_AT_MOST) throw error;
    this.#inARow += 1;
  }

  /** The destination has taken something. */
  endRow(): void {
    this.#inARow = 0;
  }

  /** Puts what was changed meanwhile in the place of one whose counterpart is claimed. @returns whether there is one */
  renew(contact: Contact): boolean {
    const isIt = (one: Failing) => one.contact.uid === contact.uid && one.there !== undefined;
    const isThere = this.#all.some(isIt);
    this.#all = this.#all.map((one) => (isIt(one) ? { ...one, contact } : one));
    return isThere;
  }

  /** The destination has answered something else since. */
  answered(): void {
    this.#all = this.#all.map((one) => (isBrokenOff(one.error) ? { ...one, error: fromThere(one.error) } : one));
  }

  /** All of them, which are told of now. */
  take(): readonly Failing[] {
    const all = this.#all;
    this.#all = [];
    return all;
  }
}
