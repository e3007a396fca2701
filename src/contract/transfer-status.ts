/** Transfer IDs: 128 random bits as 32 lower-case hex digits. */
export const TRANSFER_ID = /^[0-9a-f]{32}$/;
export const TRANSFER_ID_LENGTH = 32;

export function isTransferId(text: string): boolean {
  return TRANSFER_ID.test(text);
}

/** What was typed for an ID, without the spaces and hyphens of one that was read out or copied from paper. */
export function asTransferId(text: string): string {
  return text.replaceAll(/[\s\p{Dash}]/gu, '');
}

/** The status modal's looser rule: exactly 32 alphanumeric characters. */
export function looksLikeTransferId(text: string): boolean {
  return /^[0-9a-zA-Z]{32}$/.test(text);
}

/** The status values that the server answers with, of those that `portal.md` §4 lists. */
export const STATUS_VALUES = ['started', 'inprogress', 'completed', 'review', 'authentication_error', 'error'] as const;
export type StatusValue = (typeof STATUS_VALUES)[number];

/** How a status is shown: `portal.md` §4, "Transfer status values". */
export type ShownStatus = 'running' | 'success' | 'failed';
export function shownStatusOf(status: string): ShownStatus {
  switch (status.toLowerCase()) {
    case 'completed':
    case 'success':
      return 'success';
    case 'review':
    case 'authentication_error':
      return 'failed';
    default:
      return 'running';
  }
}

/** One operation as far as it matters here. `finished` is there once nothing of it will change any more. */
type Operation = { readonly status: string; readonly finished?: string | undefined };

/**
 * How an operation stands, for the subscriber. `interrupted`: it goes on by itself, but does not run. `failed`: it has
 * stopped.
 */
export type Standing = ShownStatus | 'interrupted';
export function standingOf({ status, finished }: Operation): Standing {
  if (status.toLowerCase() !== 'error') return shownStatusOf(status);
  return finished === undefined ? 'interrupted' : 'failed';
}

type Following = Operation & { readonly attention?: unknown; readonly taking_back?: boolean | undefined };

/**
 * Whether anything of a transfer will still change without who looks at it, as when its owner puts it right in another
 * tab: the server streams its status, and the page follows, that long.
 */
export function goesOn(transfer: {
  readonly emailmigration?: Following | undefined;
  readonly contactsmigration?: Following | undefined;
}): boolean {
  return [transfer.emailmigration, transfer.contactsmigration].some(
    (operation) => operation !== undefined && (operation.taking_back === true || isOpen(operation)),
  );
}

function isOpen(operation: Following): boolean {
  if (operation.finished !== undefined) return false;
  return operation.attention !== undefined || ['running', 'interrupted'].includes(standingOf(operation));
}

/** What the final comparison of both sides found, or `null` before it has been made. */
type Comparison = { readonly lost: number; readonly duplicated: number; readonly changed: number };
export function comparisonOf(operation: {
  readonly [Count in keyof Comparison]?: number | undefined;
}): (Comparison & { readonly isClean: boolean }) | null {
  const { lost, duplicated, changed } = operation;
  if (lost === undefined || duplicated === undefined || changed === undefined) return null;
  return { lost, duplicated, changed, isClean: lost + duplicated + changed === 0 };
}

/** Whether a transfer is an export. */
export function isExport(transfer: { readonly files?: unknown }): boolean {
  return transfer.files !== undefined;
}

/** Every so often the stream of a status says that it still stands, in ms. */
export const STATUS_HEARTBEAT_MS = 15_000;

/** The most items that a status tells one by one. */
export const SKIPPED_SHOWN = 1000;

type Counted = {
  readonly done?: number | undefined;
  readonly copied?: number | undefined;
  readonly present?: number | undefined;
  readonly skipped?: readonly { readonly reason: string }[] | undefined;
  /** Of contacts: what became of them. */
  readonly contacts?: Readonly<Record<'copied' | 'remarked' | 'present' | 'completed' | 'refused', number>> | undefined;
};

/** How many messages or contacts an operation could not copy; there may be more when all that are told are {@link SKIPPED_SHOWN}. */
export function refusedBy({ skipped = [], contacts }: Counted): number {
  return contacts?.refused ?? skipped.length - foldersLeftBy({ skipped });
}

/** Each reason that is of a whole folder says so, and no other one does. */
export const OF_FOLDER = 'this folder';

export function isOfFolder({ reason }: { readonly reason: string }): boolean {
  return reason.includes(OF_FOLDER);
}

/** Of how many whole folders there is something to say. */
export function foldersLeftBy({ skipped = [] }: Pick<Counted, 'skipped'>): number {
  return skipped.filter(isOfFolder).length;
}

export function leavesSomeOut(operation: Counted): boolean {
  return refusedBy(operation) + foldersLeftBy(operation) > 0;
}

/** How many it has copied: neither those that it could not, nor those that were there before. */
export function copiedBy(operation: Counted): number {
  const { done = 0, copied, present = 0, contacts } = operation;
  if (contacts !== undefined) return contacts.copied + contacts.remarked;
  return copied ?? Math.max(0, done - present - refusedBy(operation));
}

/** Whether something of it was taken back, or is being. */
export function isTakenBack({ taking_back: isTaking, taken_back: count = 0 }: TakenBack): boolean {
  return isTaking === true || count > 0;
}

type TakenBack = { readonly taking_back?: boolean | undefined; readonly taken_back?: number | undefined };

/** How many were there before, whether something was added to them or not. */
export function presentOf({ present = 0, contacts }: Counted): number {
  return contacts === undefined ? present : contacts.present + contacts.completed;
}
