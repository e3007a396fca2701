import * as v from 'valibot';
import { Provider } from '../provider.ts';
import { TransferId } from '../transfer.ts';
import type { Call, Stream } from './call.ts';
import { Side } from './resume.ts';

const StatusQuery = v.object({ job_id: TransferId });
const Status = v.object({ status: v.string() });

export const status = {
  method: 'GET',
  path: '/api/status/',
  Query: StatusQuery,
  Answer: v.object({ emailmigration: v.optional(Status), contactsmigration: v.optional(Status) }),
} as const satisfies Call;

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

/** A message or contact that the destination did not take, or what there is to say of a whole folder, in words for the subscriber. */
export const Skipped = v.object({ mailbox: v.string(), reason: v.string(), subject: v.optional(v.string()) });
export type Skipped = v.InferOutput<typeof Skipped>;
/** What of it anyone with the transfer's ID is told. */
const SkippedForStrangers = v.object({ reason: v.string() });

/** Why an operation goes on by itself, but not now. */
const WaitingReason = v.picklist(['provider_limit', 'unreachable', 'busy', 'queue', 'disk']);
export type WaitingReason = v.InferOutput<typeof WaitingReason>;

/** What its owner has to put right before an operation goes on. */
const AttentionReason = v.picklist(['password', 'consent', 'full', 'refused']);
export type AttentionReason = v.InferOutput<typeof AttentionReason>;
const Attention = v.object({ side: Side, reason: AttentionReason });
export type Attention = v.InferOutput<typeof Attention>;

/** `name` is missing for callers who may not see it. */
const Folder = v.object({ name: v.optional(v.string()), done: count, total: count });
export type Folder = v.InferOutput<typeof Folder>;

/**
 * What the engine knows of one operation. `done` never exceeds `total`, no count ever falls but
 * `copied`, by what turns out to be lost; `bytes` is octets moved;
 * `attention.until` is when it ends unless its owner has put that right;
 * `failure` is a sentence for the subscriber about an operation that has stopped or paused.
 * `copied` counts, of `done`, the messages that this transfer has brought (of an export: that are in its files), and
 * `present` those that were there, such as by an earlier transfer between the same mailboxes;
 * `kept` counts what the provider keeps in a form of its own; `folders` are in the order of work.
 * `compared` counts the messages that were read back at the destination; `left` is seconds until it is likely done, where
 * that can be said; `ended` tells that its owner stopped it; `taken_back` counts what was removed again after that, while `taking_back`.
 * `lost`, `duplicated` and `changed` are there once the final comparison has been made. Times are ISO 8601.
 */
export const Progress = v.object({
  status: v.string(),
  done: v.optional(count),
  total: v.optional(count),
  bytes: v.optional(count),
  skipped: v.optional(v.array(v.union([Skipped, SkippedForStrangers]))),
  failure: v.optional(v.string()),
  lost: v.optional(count),
  duplicated: v.optional(count),
  changed: v.optional(count),
  copied: v.optional(count),
  present: v.optional(count),
  kept: v.optional(count),
  waiting: v.optional(v.object({ reason: WaitingReason, until: v.optional(v.string()) })),
  attention: v.optional(v.object({ ...Attention.entries, until: v.optional(v.string()) })),
  ended: v.optional(v.literal('cancelled')),
  compared: v.optional(count),
  left: v.optional(count),
  folders: v.optional(v.array(Folder)),
  taken_back: v.optional(count),
  taking_back: v.optional(v.literal(true)),
  started: v.optional(v.string()),
  finished: v.optional(v.string()),
});
export type Progress = v.InferOutput<typeof Progress>;

/**
 * Contacts by what became of them; together they are `done`. `remarked`: copied, and there is something to say of it;
 * `present`: was there already, with nothing to add; `completed`: was there, and now has what it lacked; `refused`: not
 * copied, and named in `skipped`.
 */
export const ContactCounts = v.object({
  copied: count,
  remarked: count,
  present: count,
  completed: count,
  refused: count,
});
export type ContactCounts = v.InferOutput<typeof ContactCounts>;

/** `remarks` tell of contacts that are there, what of them is not, or is in another place; `skipped` only what was not copied. */
export const ContactsProgress = v.object({
  ...Progress.entries,
  contacts: v.optional(ContactCounts),
  remarks: v.optional(v.array(Skipped)),
});
export type ContactsProgress = v.InferOutput<typeof ContactsProgress>;

/**
 * Forwarding of new mail. `to` and `since` (ISO 8601) are there once it was set up, `ended` once its owner has
 * switched it off or a later transfer forwards elsewhere; `to` only for who may see everything.
 */
export const Forwarding = v.object({
  status: v.string(),
  failure: v.optional(v.string()),
  started: v.optional(v.string()),
  finished: v.optional(v.string()),
  to: v.optional(v.string()),
  since: v.optional(v.string()),
  ended: v.optional(v.string()),
});
export type Forwarding = v.InferOutput<typeof Forwarding>;

/** One file of a finished export. `size` is octets, `expires` ISO 8601, `url` answers who may see everything. */
export const ExportFile = v.object({
  url: v.string(),
  name: v.string(),
  size: count,
  sha256: v.string(),
  expires: v.string(),
});
export type ExportFile = v.InferOutput<typeof ExportFile>;

/**
 * What still arrives is brought once a day: while `next` is there, that is on, and goes on until `until`; else it may be
 * asked for, and would go on until then. `ended` tells why it went off by itself: a mailbox refused its sign-in, or some
 * runs in a row `failed`. Missing where it can't be asked for. Times are ISO 8601.
 */
const Daily = v.object({
  until: v.string(),
  next: v.optional(v.string()),
  ended: v.optional(v.picklist(['sign_in', 'failed'])),
});
export type Daily = v.InferOutput<typeof Daily>;

/** Of an export: its files are not there yet (and never will be, once it has failed), can be downloaded, or are deleted. */
const Files = v.picklist(['coming', 'there', 'deleted']);

export const detailedStatus = {
  method: 'GET',
  path: '/api/v2/status/',
  Query: StatusQuery,
  Answer: v.object({
    emailmigration: v.optional(Progress),
    contactsmigration: v.optional(ContactsProgress),
    emailforwarding: v.optional(Forwarding),
    /** Where it goes: how the new mailbox is signed in to again. Only for who may see everything. */
    destination: v.optional(Provider),
    /** Only for who may see everything. */
    daily: v.optional(Daily),
    /**
     * Of a transfer that has ended: running it again copies what was taken back, of it or of an earlier one between the same
     * mailboxes, and was not copied again since. Only for who may see everything.
     */
    brings_back: v.optional(v.literal(true)),
    /** The addresses of the two mailboxes; files have none. Only for who may see everything. */
    route: v.optional(v.object({ from: v.string(), to: v.optional(v.string()) })),
    files: v.optional(Files),
    /** Of a transfer that goes on: nobody will be told of its end, as nobody asked for it, or there is no way to send that. */
    untold: v.optional(v.literal(true)),
    exports: v.optional(v.array(ExportFile)),
    /** More is shown to the browser that ordered the transfer, and after a sign-in. */
    limited: v.optional(v.literal(true)),
  }),
} as const satisfies Call;
export type TransferStatus = v.InferOutput<typeof detailedStatus.Answer>;

/**
 * The same answer as server-sent events. `status` comes at once and at every change, `alive` each `STATUS_HEARTBEAT_MS`
 * without one, `end` after the last status. The data of an event are JSON that its schema takes.
 */
export const statusStream = {
  method: 'GET',
  path: '/api/v2/status/events/',
  Query: StatusQuery,
  events: { status: detailedStatus.Answer, alive: v.null(), end: v.null() },
} as const satisfies Stream;
