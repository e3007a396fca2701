/** Transfer IDs: 128 random bits as 32 lower-case hex digits. */
export const TRANSFER_ID = /^[0-9a-f]{32}$/;
export const TRANSFER_ID_LENGTH = 32;

export function isTransferId(text: string): boolean {
  return TRANSFER_ID.test(text);
}

/**
 * A typed ID without spaces and hyphens, as people write IDs that were read out or copied from paper; of a line or a link
 * that was copied from a letter, the ID in it.
 */
export function asTransferId(text: string): string {
  return /\b[0-9a-z]{32}\b/i.exec(text)?.[0] ?? text.replaceAll(/[\s\p{Dash}]/gu, '');
}

/** How much of what is pasted for an ID is read: a link takes more than the ID in it. */
export const TRANSFER_ID_PASTED = 256;

/** The status modal's looser rule: exactly 32 alphanumeric characters. */
export function looksLikeTransferId(text: string): boolean {
  return /^[0-9a-zA-Z]{32}$/.test(text);
}

/** The status values, out of those in `portal.md` §4, that the server answers with. */
const STATUS_VALUES = ['started', 'inprogress', 'completed', 'review', 'authentication_error', 'error'] as const;
export type StatusValue = (typeof STATUS_VALUES)[number];

/** How a status is displayed (`portal.md` §4, "Transfer status values"). */
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

/** The relevant part of an operation. `finished` is present once nothing about it will change any more. */
type Operation = { readonly status: string; readonly finished?: string | undefined };

/**
 * The state of an operation as the subscriber sees it. `interrupted`: it isn't running, but will continue by itself.
 * `failed`: it has stopped.
 */
export type Standing = ShownStatus | 'interrupted';
export function standingOf({ status, finished }: Operation): Standing {
  if (status.toLowerCase() !== 'error') return shownStatusOf(status);
  return finished === undefined ? 'interrupted' : 'failed';
}

type Following = Operation & { readonly attention?: unknown; readonly taking_back?: boolean | undefined };

/**
 * Whether a transfer may still change without an action on this page, for example because its owner fixes a problem in
 * another tab. The server streams its status, and the page follows it, for as long as this holds.
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

/** The result of the final comparison of both sides. */
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

/** The interval of heartbeats in a status stream, in ms. */
export const STATUS_HEARTBEAT_MS = 15_000;

/** The most skipped items that a status lists individually. */
export const SKIPPED_SHOWN = 1000;

type Counted = {
  readonly done?: number | undefined;
  readonly copied?: number | undefined;
  readonly present?: number | undefined;
  readonly moved?: number | undefined;
  readonly skipped?: readonly { readonly reason: string }[] | undefined;
  /** For contacts: the counts by outcome. */
  readonly contacts?: Readonly<Record<'copied' | 'remarked' | 'present' | 'completed' | 'refused', number>> | undefined;
};

/** How many messages or contacts an operation could not copy; see {@link refusesMore}. */
export function refusedBy({ skipped = [], contacts }: Counted): number {
  return contacts?.refused ?? skipped.length - foldersLeftBy({ skipped });
}

/** Whether {@link refusedBy} may be too low, because the list of skipped items is full and holds no more. */
export function refusesMore({ skipped = [], contacts }: Counted): boolean {
  return contacts === undefined && skipped.length >= SKIPPED_SHOWN;
}

/**
 * Whether {@link foldersLeftBy} may be too low: the list is full, and folders, which may fill half of it beside
 * messages, do.
 */
export function leavesMoreFolders({ skipped = [] }: Counted): boolean {
  return skipped.length >= SKIPPED_SHOWN && 2 * foldersLeftBy({ skipped }) >= SKIPPED_SHOWN;
}

/** Exactly the reasons that apply to a whole folder contain this phrase. */
export const OF_FOLDER = 'this folder';

export function isOfFolder({ reason }: { readonly reason: string }): boolean {
  return reason.includes(OF_FOLDER);
}

/** How many of the skipped items are whole folders. */
export function foldersLeftBy({ skipped = [] }: Pick<Counted, 'skipped'>): number {
  return skipped.filter(isOfFolder).length;
}

export function leavesSomeOut(operation: Counted): boolean {
  return refusedBy(operation) + foldersLeftBy(operation) > 0;
}

/** Whether some messages or contacts are known to be missing: refused, or moved or deleted since. */
export function lacksSome(operation: Counted): boolean {
  return leavesSomeOut(operation) || (operation.moved ?? 0) > 0;
}

/** How many an operation has copied, not counting those that were refused or were there before. */
export function copiedBy(operation: Counted): number {
  const { done = 0, copied, present = 0, moved = 0, contacts } = operation;
  if (contacts !== undefined) return contacts.copied + contacts.remarked;
  return copied ?? Math.max(0, done - present - moved - refusedBy(operation));
}

/** Whether an operation has been taken back, at least in part, or is being taken back. */
export function isTakenBack({ taking_back: isTaking, taken_back: count = 0 }: TakenBack): boolean {
  return isTaking === true || count > 0;
}

type TakenBack = { readonly taking_back?: boolean | undefined; readonly taken_back?: number | undefined };

/** How many were there before, whether anything was added to them or not. */
export function presentOf({ present = 0, contacts }: Counted): number {
  return contacts === undefined ? present : contacts.present + contacts.completed;
}
