/** Transfer, token and status-hash IDs: 128 random bits as 32 lower-case hex digits. */
export const TRANSFER_ID = /^[0-9a-f]{32}$/;
export const TRANSFER_ID_LENGTH = 32;

export function isTransferId(text: string): boolean {
  return TRANSFER_ID.test(text);
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
