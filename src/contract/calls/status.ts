import * as v from 'valibot';
import { Provider } from '../provider.ts';
import { GivenTransferId, TransferId } from '../transfer.ts';
import type { Call, Stream } from './call.ts';
import { Side } from './resume.ts';

const StatusQuery = v.object({ job_id: GivenTransferId });
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

/** `name` is omitted for callers who may not see it. `done` does not count what was left out. */
const Folder = v.object({ name: v.optional(v.string()), done: count, total: count });
export type Folder = v.InferOutput<typeof Folder>;

/**
 * What the engine knows about one operation; all times are ISO 8601. `done` never exceeds `total`, and no count decreases,
 * except where its comment says so.
 */
export const Progress = v.object({
  status: v.string(),
  /** The messages or contacts that are dealt with: copied, there already, moved, or refused. */
  done: v.optional(count),
  /** Falls at the end by what was deleted at the source before it was read. */
  total: v.optional(count),
  /** The octets moved. */
  bytes: v.optional(count),
  skipped: v.optional(v.array(v.union([Skipped, SkippedForStrangers]))),
  /** A sentence for the subscriber: why the operation has stopped or paused. */
  failure: v.optional(v.string()),
  /** Present, like `duplicated` and `changed`, once the final comparison has been made. */
  lost: v.optional(count),
  duplicated: v.optional(count),
  changed: v.optional(count),
  /** Copied by this transfer (for an export: in its files). Falls by messages that turn out to be lost. */
  copied: v.optional(count),
  /**
   * There already, for example from an earlier transfer between the same mailboxes. Falls by messages that turn out to be
   * `moved`.
   */
  present: v.optional(count),
  /** There before, but moved or deleted by their owner since. They are not copied again. */
  moved: v.optional(count),
  /** Kept by the provider in a form of its own. Falls at the end by messages that are not there any more. */
  kept: v.optional(count),
  waiting: v.optional(v.object({ reason: WaitingReason, until: v.optional(v.string()) })),
  /** `until`: when the operation ends unless its owner fixes the problem. */
  attention: v.optional(v.object({ ...Attention.entries, until: v.optional(v.string()) })),
  /** Its owner stopped it. */
  ended: v.optional(v.literal('cancelled')),
  /** Read back at the destination. */
  compared: v.optional(count),
  /** The estimated number of seconds until it is done, if there is an estimate. */
  left: v.optional(count),
  /** In the order of work. */
  folders: v.optional(v.array(Folder)),
  /** Removed again after the end. */
  taken_back: v.optional(count),
  /** Removing is still under way. */
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

/** Forwarding of new mail, which may have been set up by another transfer between the same mailboxes. Times are ISO 8601. */
export const Forwarding = v.object({
  status: v.string(),
  failure: v.optional(v.string()),
  started: v.optional(v.string()),
  finished: v.optional(v.string()),
  /** The address that is forwarded to. Only for callers who may see everything. */
  to: v.optional(v.string()),
  /** Present once forwarding has been set up. */
  since: v.optional(v.string()),
  /** Present once its owner has switched it off, or a later transfer forwards elsewhere. */
  ended: v.optional(v.string()),
  /** Whether a copy of each message stays in the old mailbox, if that is known. */
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
  Answer: v.pipe(
    v.object({
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
    // `decisions.md` tells its owner of a finished export by `exports` alone.
    v.transform((status) => ((status.exports?.length ?? 0) > 0 ? { ...status, files: 'there' as const } : status)),
  ),
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
