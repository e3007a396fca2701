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

/** A message or contact that was not copied, or a remark on a whole folder, in words for the subscriber. */
export const Skipped = v.object({ mailbox: v.string(), reason: v.string(), subject: v.optional(v.string()) });
export type Skipped = v.InferOutput<typeof Skipped>;
/** The part of it that anyone with the transfer ID may see. */
const SkippedForStrangers = v.object({ reason: v.string() });

/** Why an operation is paused; it will continue by itself. */
const WaitingReason = v.picklist(['provider_limit', 'unreachable', 'busy', 'queue', 'disk']);
export type WaitingReason = v.InferOutput<typeof WaitingReason>;

/** What the owner has to fix before an operation can continue. */
const AttentionReason = v.picklist(['password', 'consent', 'full', 'refused']);
export type AttentionReason = v.InferOutput<typeof AttentionReason>;
const Attention = v.object({ side: Side, reason: AttentionReason });
export type Attention = v.InferOutput<typeof Attention>;

/** `name` is omitted for callers who may not see it; of what was left out `done` counts nothing. */
const Folder = v.object({ name: v.optional(v.string()), done: count, total: count });
export type Folder = v.InferOutput<typeof Folder>;

/**
 * What the engine knows about one operation. `done` never exceeds `total`, and no count ever decreases except `copied`,
 * by the messages that turn out to be lost, `present`, by those that turn out to be `moved`, and, at the end, `total`, by what was deleted before it
 * was read, and `kept`, by what is not there any more. `bytes` is the octets moved; `folders` are in the order of work.
 * Of `done`, `copied` counts the messages that this transfer has copied (for an export: that are in its files), and
 * `present` those that were there already, for example from an earlier transfer between the same mailboxes, and
 * `moved` those that were there before and that their owner has moved or deleted since: they are not copied again. `kept`
 * counts the messages that the provider keeps in its own form, `compared` those that were read back at the destination.
 * `left` is the estimated number of seconds until it is done, if there is an estimate.
 * `attention.until` is when the operation ends unless its owner fixes the problem; `failure` is a sentence for the
 * subscriber about why it has stopped or paused; `ended` means that its owner stopped it. `taken_back` counts what has
 * been removed again after the end; with `taking_back` that is still going on.
 * `lost`, `duplicated` and `changed` are present once the final comparison has been made. Times are ISO 8601.
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
  moved: v.optional(count),
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
 * Contacts by outcome; together they add up to `done`. `remarked`: copied, with a remark; `present`: was there already
 * and lacked nothing; `completed`: was there, and what it lacked has been added; `refused`: not copied, and named in
 * `skipped`.
 */
export const ContactCounts = v.object({
  copied: count,
  remarked: count,
  present: count,
  completed: count,
  refused: count,
});
export type ContactCounts = v.InferOutput<typeof ContactCounts>;

/** `remarks` tell what copied contacts lack or have in another place; `skipped` names only contacts that were not copied. */
export const ContactsProgress = v.object({
  ...Progress.entries,
  contacts: v.optional(ContactCounts),
  remarks: v.optional(v.array(Skipped)),
});
export type ContactsProgress = v.InferOutput<typeof ContactsProgress>;

/**
 * Forwarding of new mail, also where another transfer between the same mailboxes has set it up. `to` and `since` (ISO 8601) are present once it has been set up, `ended` once its owner has
 * switched it off or a later transfer forwards elsewhere; `copies` tells, where it is known, whether one of each message stays in the old mailbox; `to` only for those who may see everything.
 */
export const Forwarding = v.object({
  status: v.string(),
  failure: v.optional(v.string()),
  started: v.optional(v.string()),
  finished: v.optional(v.string()),
  to: v.optional(v.string()),
  since: v.optional(v.string()),
  ended: v.optional(v.string()),
  copies: v.optional(v.boolean()),
});
export type Forwarding = v.InferOutput<typeof Forwarding>;

/** One file of a finished export. `size` is in octets, `expires` ISO 8601; `url` serves callers who may see everything. */
export const ExportFile = v.object({
  url: v.string(),
  name: v.string(),
  size: count,
  sha256: v.string(),
  expires: v.string(),
});
export type ExportFile = v.InferOutput<typeof ExportFile>;

/**
 * The daily transfer of new mail. It is on while `next` is present, and runs until `until`; otherwise it can be
 * switched on, and would run until then. `ended` says why it switched itself off: a mailbox refused the sign-in, or
 * several runs in a row `failed`. Absent where it can't be switched on. Times are ISO 8601.
 */
const Daily = v.object({
  until: v.string(),
  next: v.optional(v.string()),
  ended: v.optional(v.picklist(['sign_in', 'failed'])),
});
export type Daily = v.InferOutput<typeof Daily>;

/** An export's files don't exist yet (or never will, if it has failed), can be downloaded, or have been deleted. */
const Files = v.picklist(['coming', 'there', 'deleted']);

export const detailedStatus = {
  method: 'GET',
  path: '/api/v2/status/',
  Query: StatusQuery,
  Answer: v.object({
    emailmigration: v.optional(Progress),
    contactsmigration: v.optional(ContactsProgress),
    emailforwarding: v.optional(Forwarding),
    /** The provider of the new mailbox, for signing in to it again. Only for callers who may see everything. */
    destination: v.optional(Provider),
    /** Only for callers who may see everything. */
    daily: v.optional(Daily),
    /**
     * Running the ended transfer again would copy messages that were taken back, from it or from an earlier one between
     * the same mailboxes, and have not been copied again since. Only for callers who may see everything.
     */
    brings_back: v.optional(v.literal(true)),
    /**
     * The transfer before this ended one, between the same mailboxes, that has copied messages which were not all taken
     * back. Only for callers who may see everything.
     */
    earlier: v.optional(TransferId),
    /** The addresses of the two mailboxes; an export has no `to`. Only for callers who may see everything. */
    route: v.optional(v.object({ from: v.string(), to: v.optional(v.string()) })),
    files: v.optional(Files),
    /** Nobody will be notified when this running transfer ends: nobody asked to be, or nothing can be sent. */
    untold: v.optional(v.literal(true)),
    exports: v.optional(v.array(ExportFile)),
    /** The browser that ordered the transfer is shown more, and so is anybody after a sign-in. */
    limited: v.optional(v.literal(true)),
  }),
} as const satisfies Call;
export type TransferStatus = v.InferOutput<typeof detailedStatus.Answer>;

/**
 * The same answer as server-sent events. `status` is sent at once and at every change, `alive` after each
 * `STATUS_HEARTBEAT_MS` without a change, `end` after the last status. The data of an event is JSON.
 */
export const statusStream = {
  method: 'GET',
  path: '/api/v2/status/events/',
  Query: StatusQuery,
  events: { status: detailedStatus.Answer, alive: v.null(), end: v.null() },
} as const satisfies Stream;
