import type { Contact } from '../../contract/contact.ts';
import type { Skipped } from '../../contract/calls/status.ts';
import type { Part } from './parts.ts';

/** What a skipped contact's `mailbox` says: contacts lie in no mailbox. */
export const CONTACTS_MAILBOX = 'Contacts';

/** A group or list of the source. */
export type ContactGroup = {
  readonly uid: string;
  readonly name: string;
  readonly notes: string;
  /** The UIDs of its members that are contacts of the source. */
  readonly members: readonly string[];
  /** Members that no card of the source describes. */
  readonly strangers: number;
  readonly vcard: string;
};

export type Reading =
  | { readonly kind: 'contact'; readonly contact: Contact }
  /** `id` is the same in every run; `raw` is what could not be read, as the source has it. */
  | { readonly kind: 'skipped'; readonly skipped: Skipped; readonly id: string; readonly raw?: string }
  /** After the contacts: each contact names its groups itself. */
  | { readonly kind: 'group'; readonly group: ContactGroup };

/** What a source holds, before its contacts are read: how many, and under which UIDs. */
export type Survey = { readonly total: number; readonly uids: ReadonlySet<string> };

/** Reads an address book without changing it. Every contact has a `uid` that is its own, and the same in every run. */
export type ContactReader = {
  /** @throws {ContactStoreError} as do all calls here */
  survey(signal: AbortSignal): Promise<Survey>;
  /** As many readings as `survey` counted, unless the source changes meanwhile. */
  contacts(signal: AbortSignal): AsyncIterable<Reading>;
};

/** A contact that the destination holds already. */
export type ExistingContact = {
  /** How the destination names it. */
  readonly id: string;
  /** The `uid` of the source's contact that it was written for; `''` when it did not come by us. */
  readonly uid: string;
  /** As far as the destination has fields for it; without `uid`, `vcard` and the photo's octets. */
  readonly contact: Contact;
  /** `undefined` where only a further call can tell. */
  readonly hasPhoto?: boolean;
};

/** What happened to one contact. `notes` tell the subscriber what the destination could not take; `stays`: such parts. */
export type WriteResult =
  | { readonly outcome: 'written'; readonly notes: readonly string[]; readonly stays: readonly Part[] }
  | { readonly outcome: 'skipped'; readonly reason: string };

/**
 * What became of a contact that was there. `filled`: something was added. `stays`: parts of ours that stay out, because
 * something else stands there. `gone`: somebody has deleted it meanwhile.
 */
export type FillResult =
  | { readonly outcome: 'filled' | 'whole'; readonly stays: readonly Part[]; readonly notes: readonly string[] }
  | { readonly outcome: 'gone' };

/** Writes into one account. No call matches: `copyContacts` has done so. */
export type ContactWriter = {
  /** How many contacts `write` takes at once. */
  readonly batchSize: number;
  existing(signal: AbortSignal): AsyncIterable<ExistingContact>;
  /** The notes that `write` gives by the nature of a contact alone: for one that was written, and whose answer was lost. */
  notesOn(contact: Contact): readonly string[];
  /** One result for each contact, in their order. */
  write(contacts: readonly Contact[], signal: AbortSignal): Promise<readonly WriteResult[]>;
  /**
   * Adds what a contact that is there lacks of ours, and overwrites nothing, not even what somebody changes at the same
   * time: the destination is asked to refuse that, and read again.
   */
  fill(existing: ExistingContact, contact: Contact, signal: AbortSignal): Promise<FillResult>;
  /** Makes a group that no contact has made by naming it. Gives notes as `write` does. Can be repeated. */
  group(group: ContactGroup, signal: AbortSignal): Promise<readonly string[]>;
};

/**
 * `password` for Basic, `accessToken` for Bearer; the latter is asked before every request and refreshes by itself, or
 * when the last one was refused (`renew`).
 */
export type ContactCredentials =
  | { readonly email: string; readonly password: string }
  | { readonly email: string; readonly accessToken: (options?: { renew: boolean }) => Promise<string> };

/**
 * - `authentication`: the store refuses the credentials; nothing helps but new ones.
 * - `unavailable`: it did not answer, or was too busy for too long; what was asked may or may not be done. Try again later.
 * - `full`: the account has no room for more; its owner has to make some.
 * - `refused`: it understood and said no.
 * - `unexpected`: its answer makes no sense, or is over a limit.
 */
export type ContactStoreFault = 'authentication' | 'unavailable' | 'full' | 'refused' | 'unexpected';

type Particulars = {
  readonly host?: string;
  readonly status?: number;
  /** The store's own word for it, such as `rateLimitExceeded`. */
  readonly reason?: string;
  /** How long it asked to be left alone, in milliseconds. */
  readonly pause?: number;
  readonly cause?: unknown;
};

/** A whole call failed. `message` names host, status and reason at most, never an address, a contact or a secret. */
export class ContactStoreError extends Error {
  override name = 'ContactStoreError';
  readonly fault: ContactStoreFault;
  readonly host: string | undefined;
  /** The HTTP status, when there was one. */
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly pause: number | undefined;
  /** Which of a transfer's accounts it was, noted by who opened it. */
  account: 'source' | 'destination' | undefined;

  constructor(fault: ContactStoreFault, message: string, particulars: Particulars = {}) {
    super(message, { cause: particulars.cause });
    this.fault = fault;
    this.host = particulars.host;
    this.status = particulars.status;
    this.reason = particulars.reason;
    this.pause = particulars.pause;
  }
}

/** A 5xx after all tries that is not about being busy: it is about the one thing that was asked for. */
export function isOfOne({ fault, status }: ContactStoreError): boolean {
  return fault === 'unavailable' && status !== undefined && status !== 429 && status !== 503;
}
