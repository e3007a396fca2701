import type { Contact } from '../../contract/contact.ts';
import type { Skipped } from '../../contract/calls/status.ts';

/** What a skipped contact's `mailbox` says: contacts lie in no mailbox. */
export const CONTACTS_MAILBOX = 'Contacts';

export type Reading =
  | { readonly kind: 'contact'; readonly contact: Contact }
  | { readonly kind: 'skipped'; readonly skipped: Skipped };

/** What a source holds, before its contacts are read: how many, and under which UIDs. */
export type Survey = { readonly total: number; readonly uids: ReadonlySet<string> };

/** Reads an address book without changing it. Every contact has a `uid` that is its own, and the same in every run. */
export type ContactReader = {
  /** @throws {ContactStoreError} as do all calls here */
  survey(signal: AbortSignal): Promise<Survey>;
  /** As many readings as `survey` counted, unless the source changes meanwhile. */
  contacts(signal: AbortSignal): AsyncIterable<Reading>;
};

/** A contact that the destination holds already, as far as it is compared. */
export type ExistingContact = {
  /** How the destination names it. */
  readonly id: string;
  /** The `uid` of the source's contact that it was written for; `''` when it did not come by us. */
  readonly uid: string;
  readonly names: readonly string[];
  readonly emails: readonly string[];
  readonly phones: readonly string[];
  /** `undefined` where only a further call can tell. */
  readonly hasPhoto?: boolean;
};

/** What happened to one contact. `notes` say what the destination could not take, in words for the subscriber. */
export type WriteResult =
  | { readonly outcome: 'written'; readonly notes: readonly string[] }
  | { readonly outcome: 'skipped'; readonly reason: string };

/** Writes into one account. Neither call merges or matches: `copyContacts` has done so. */
export type ContactWriter = {
  /** How many contacts `write` takes at once. */
  readonly batchSize: number;
  existing(signal: AbortSignal): AsyncIterable<ExistingContact>;
  /** One result for each contact, in their order. */
  write(contacts: readonly Contact[], signal: AbortSignal): Promise<readonly WriteResult[]>;
  /** Adds what a write that was interrupted left out, to a contact that we wrote earlier. Gives notes as `write` does. */
  complete(existing: ExistingContact, contact: Contact, signal: AbortSignal): Promise<readonly string[]>;
};

/** `password` for Basic, `accessToken` for Bearer; the latter is asked before every request and refreshes by itself. */
export type ContactCredentials =
  | { readonly email: string; readonly password: string }
  | { readonly email: string; readonly accessToken: () => Promise<string> };

/**
 * - `authentication`: the store refuses the credentials; nothing helps but new ones.
 * - `unavailable`: it did not answer, was too busy for too long, or is full; what was asked may or may not be done. Try again later.
 * - `refused`: it understood and said no.
 * - `unexpected`: its answer makes no sense, or is over a limit.
 */
export type ContactStoreFault = 'authentication' | 'unavailable' | 'refused' | 'unexpected';

/** A whole call failed. `message` names hosts and numbers at most, never an address, a contact or a secret. */
export class ContactStoreError extends Error {
  override name = 'ContactStoreError';
  readonly fault: ContactStoreFault;
  /** The HTTP status, when there was one. */
  readonly status: number | undefined;
  /** Which of a transfer's accounts it was, noted by who opened it. */
  account: 'source' | 'destination' | undefined;

  constructor(fault: ContactStoreFault, message: string, options: { status?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.fault = fault;
    this.status = options.status;
  }
}
