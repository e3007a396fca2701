import type { Part } from './parts.ts';

/**
 * What happened to a contact: `copied`; `present`: already there, with nothing to add; `completed`: already there, and now
 * with what it lacked; `refused`: not copied. `intent`: about to be written or filled, so its outcome is unknown. `group` is
 * not a contact.
 */
export type FateName = 'intent' | 'copied' | 'present' | 'completed' | 'refused' | 'group';

export type Fate = {
  readonly fate: FateName;
  /** The counterpart that existed before the copy; `''` if there was none. */
  readonly destinationId: string;
  /** Parts that were left out. */
  readonly stays: readonly Part[];
  readonly remarks: readonly string[];
  /** Of what the source held; `''` if that is not known. */
  readonly digest: string;
};

export type Settled = {
  /** The contact's UID, or the `id` of a reading that failed. */
  readonly uid: string;
  readonly fate: Exclude<FateName, 'intent'>;
  /** For the subscriber; may be empty. */
  readonly name: string;
  /** Sentences for the subscriber, without names and values. */
  readonly remarks: readonly string[];
  readonly destinationId?: string;
  readonly stays?: readonly Part[];
  readonly digest?: string;
};

/** What a copy remembers of each contact, by UID. A call returns once its writes are durable. */
export type ContactFates = {
  all(): Promise<ReadonlyMap<string, Fate>>;
  intend(contacts: readonly { readonly uid: string; readonly destinationId: string }[]): Promise<void>;
  settle(settled: readonly Settled[]): Promise<void>;
  /** Removes readings that failed and have succeeded since. */
  forget(ids: readonly string[]): Promise<void>;
  /** Adds a remark to contacts that are settled. Can be repeated. */
  remark(remarks: readonly { readonly uid: string; readonly remark: string }[]): Promise<void>;
};
