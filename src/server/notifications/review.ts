import type { Provider } from '../../contract/provider.ts';
import { displayName } from '../../contract/display-name.ts';

/** What support needs to look into a transfer that ended in review. No password, token, subject or folder name. */
export type Review = {
  readonly source: string;
  readonly destination: { readonly provider: Provider; readonly email: string };
  /** The notification contact, if any. */
  readonly contact: string | null;
  readonly ordered: Date;
  readonly ended: Date;
  readonly operations: readonly ReviewedOperation[];
};

type ReviewedOperation = {
  readonly operation: string;
  readonly status: string;
  readonly done: number;
  readonly total: number | null;
  readonly lost: number | null;
  readonly duplicated: number | null;
  readonly changed: number | null;
  /** The text shown to the subscriber. */
  readonly failure: string | null;
};

const MOMENT = new Intl.DateTimeFormat('en-US', {
  dateStyle: 'long',
  timeStyle: 'long',
  timeZone: 'America/Los_Angeles',
});

/** The letter to `SUPPORT_EMAIL`. Its readers are the operator's staff, so it may use technical terms. */
export function reviewLetterOf(
  review: Review,
  { transferId, statusUrl, legacyName }: { transferId: string; statusUrl: string; legacyName: string },
): { readonly subject: string; readonly text: string } {
  const { source, destination, contact, ordered, ended, operations } = review;
  return {
    subject: `${legacyName} transfer ${transferId} needs review`,
    text: [
      'A transfer has ended and needs a person to look into it. The subscriber reads on the status page that it stopped.',
      [
        `Transfer ID: ${transferId}`,
        `Status page: ${statusUrl}`,
        `From: ${source}`,
        `To: ${destination.email === '' ? '' : `${destination.email}, `}${displayName(destination.provider, legacyName)}`,
        `Updates go to: ${contact ?? 'nobody'}`,
        `Ordered: ${MOMENT.format(ordered)}`,
        `Ended: ${MOMENT.format(ended)}`,
      ].join('\n'),
      ...operations.map(linesOf),
      'The log of the worker has more under this transfer ID.',
      '',
    ].join('\n\n'),
  };
}

function linesOf({ operation, status, done, total, lost, duplicated, changed, failure }: ReviewedOperation): string {
  return [
    `${operation}: ${status}`,
    `  done: ${done} of ${total ?? 'an unknown number'}`,
    ...(lost === null ? [] : [`  missing: ${lost}, duplicated: ${duplicated ?? 0}, changed: ${changed ?? 0}`]),
    ...(failure === null ? [] : [`  the subscriber reads: ${failure}`]),
  ].join('\n');
}
