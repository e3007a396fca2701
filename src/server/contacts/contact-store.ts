import type { Skipped } from '../../contract/calls/status.ts';
import type { Contact } from './contact.ts';
import type { Part } from './parts.ts';

/** The `mailbox` of a skipped contact, as contacts are in no mailbox. */
export const CONTACTS_MAILBOX = 'Contacts';

/** A group or list at the source. */
export type ContactGroup = {
  readonly uid: string;
  readonly name: string;
  readonly notes: string;
  /** UIDs of the members that are contacts at the source. */
  readonly members: readonly string[];
  /** Members without a card at the source, as its list names them: `mailto:` addresses, and UIDs or files that are gone. */
  readonly strangers: readonly string[];
  readonly vcard: string;
};

export type Reading =
  /** `id`: that of the reading it was while it could not be read, in this run or before. */
  | { readonly kind: 'contact'; readonly contact: Contact; readonly id?: string }
  /** `id` is stable across runs; `raw` is the text that could not be read. */
  | { readonly kind: 'skipped'; readonly skipped: Skipped; readonly id: string; readonly raw?: string }
  /** Follows the contacts, each of which names its groups itself. */
  | { readonly kind: 'group'; readonly group: ContactGroup };

/** What a source holds, known before its contacts are read: how many, and their UIDs. */
export type Survey = { readonly total: number; readonly uids: ReadonlySet<string> };

/** Reads an address book without changing it. Every contact has a unique `uid` that is stable across runs. */
export type ContactReader = {
  /** @throws {ContactStoreError} as do all calls here */
  survey(signal: AbortSignal): Promise<Survey>;
  /** As many readings as `survey` counted, unless the source changes in the meantime. */
  contacts(signal: AbortSignal): AsyncIterable<Reading>;
};

/** A contact that the destination already holds. */
export type ExistingContact = {
  /** The destination's identifier. */
  readonly id: string;
  /** The `uid` of the source contact that it was written for; `''` if we did not write it. */
  readonly uid: string;
  /** As far as the destination's fields go; without `uid`, `vcard` and the photo's octets. */
  readonly contact: Contact;
  /** `undefined` if it takes another call to find out. */
  readonly hasPhoto?: boolean;
};

/** The outcome of one contact. `notes` tell the subscriber what the destination could not store; `stays` are those parts. */
export type WriteResult =
  | { readonly outcome: 'written'; readonly notes: readonly string[]; readonly stays: readonly Part[] }
  | { readonly outcome: 'skipped'; readonly reason: string };

/**
 * What happened to a contact that was there. `filled`: something was added. `stays`: parts of ours that were left out,
 * because there is something else. `gone`: somebody has deleted it meanwhile.
 */
export type FillResult =
  | { readonly outcome: 'filled' | 'whole'; readonly stays: readonly Part[]; readonly notes: readonly string[] }
  | { readonly outcome: 'gone' };

/** Writes to one account. Matching is up to the caller, `copyContacts`. */
export type ContactWriter = {
  /** How many contacts `write` takes at once. */
  readonly batchSize: number;
  existing(signal: AbortSignal): AsyncIterable<ExistingContact>;
  /** The notes that `write` would return, derived from the contact alone, in case it was written but the answer was lost. */
  notesOn(contact: Contact): readonly string[];
  /** One result for each contact, in the same order. */
  write(contacts: readonly Contact[], signal: AbortSignal): Promise<readonly WriteResult[]>;
  /**
   * Adds what an existing contact lacks of ours, and overwrites nothing, not even a change that somebody makes at the same
   * time: the destination is asked to refuse the update then, and the contact is read again.
   */
  fill(existing: ExistingContact, contact: Contact, signal: AbortSignal): Promise<FillResult>;
  /**
   * Creates a group that no contact has created by naming it, or adds members. Returns notes as `write` does. Can be
   * repeated.
   */
  group(group: ContactGroup, signal: AbortSignal): Promise<readonly string[]>;
};

/**
 * `password` for Basic, `accessToken` for Bearer; the latter is called before every request, and refreshes the token when
 * necessary, or when the last one was refused (`renew`).
 */
export type ContactCredentials =
  | { readonly email: string; readonly password: string }
  | { readonly email: string; readonly accessToken: (options?: { renew: boolean }) => Promise<string> };

/**
 * - `authentication`: the store refuses the credentials; only new ones will help.
 * - `unavailable`: it did not answer, or was busy for too long. The request may have been executed. Try again later.
 * - `full`: the account is full; its owner has to make room.
 * - `refused`: it understood the request and declined.
 * - `too many`: it holds more contacts, or address books, than are read of an account.
 * - `unexpected`: its answer is invalid, or exceeds another limit.
 */
export type ContactStoreFault = 'authentication' | 'unavailable' | 'full' | 'refused' | 'too many' | 'unexpected';

type Particulars = {
  readonly host?: string;
  readonly status?: number;
  /** The store's own word for it, such as `rateLimitExceeded`. */
  readonly reason?: string;
  /** The pause it asked for, in milliseconds. */
  readonly pause?: number;
  /** Whether it answered something else after that. */
  readonly isThere?: boolean;
  readonly cause?: unknown;
};

/** A call failed. `message` names at most host, status and reason, never an address, a contact or a secret. */
export class ContactStoreError extends Error {
  override name = 'ContactStoreError';
  readonly fault: ContactStoreFault;
  readonly host: string | undefined;
  /** The HTTP status, when there was one. */
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly pause: number | undefined;
  /** Whether it is known to be there, although it gave no answer. */
  readonly isThere: boolean;
  /** Which of the transfer's accounts it was, set by whoever opened the store. */
  account: 'source' | 'destination' | undefined;

  constructor(fault: ContactStoreFault, message: string, particulars: Particulars = {}) {
    super(message, { cause: particulars.cause });
    this.fault = fault;
    this.host = particulars.host;
    this.status = particulars.status;
    this.reason = particulars.reason;
    this.pause = particulars.pause;
    this.isThere = particulars.isThere ?? false;
  }
}

/** Most contacts that are read of an account: those of a destination are all in memory while a copy runs. */
export const CONTACTS_AT_MOST = 100_000;

/** A conflict, or a 5xx that does not mean busy, on every attempt: the cause is the one item requested. */
export function isOfOne({ fault, status }: ContactStoreError): boolean {
  return fault === 'unavailable' && status !== undefined && status !== 429 && status !== 503;
}

/** The same of any error, if others need not wait as well. */
export function blamesOne(error: unknown): error is ContactStoreError {
  return error instanceof ContactStoreError && isOfOne(error) && error.pause === undefined;
}

/** The connection broke, or no answer came, on every attempt: if the store answers otherwise, because of what was sent. */
export function isBrokenOff({ fault, status, pause }: ContactStoreError): boolean {
  return fault === 'unavailable' && status === undefined && pause === undefined;
}

/** The same error of a store that has answered something else since. */
export function fromThere(error: ContactStoreError): ContactStoreError {
  const { fault, message, host, cause } = error;
  return new ContactStoreError(fault, message, { ...(host === undefined ? {} : { host }), isThere: true, cause });
}

/** A contact that changes each time it is filled is left as it is, without affecting others: hence a conflict's status. */
export function changedAllTheTime(host: string): ContactStoreError {
  return new ContactStoreError('unavailable', `${host}: a contact is being changed all the time`, {
    host,
    status: 412,
  });
}
