import * as v from 'valibot';
import { GivenTransferId } from '../transfer.ts';

export const ReceiptFormat = v.picklist(['csv', 'json', 'html']);
export type ReceiptFormat = v.InferOutput<typeof ReceiptFormat>;

/** The path of a transfer's receipt; the answer is a file, not JSON for the portal. */
export const RECEIPT = '/api/v2/transfers/receipt/';
/** The path of the public key that verifies receipts (Ed25519, PEM). */
export const RECEIPT_KEY = '/.well-known/transfer-receipt-key.pem';
export const ReceiptQuery = v.object({ job_id: GivenTransferId, format: v.optional(ReceiptFormat, 'html') });

export function receiptAddress(id: string, format: ReceiptFormat): string {
  const query = { job_id: id, format } satisfies v.InferInput<typeof ReceiptQuery>;
  return `${RECEIPT}?${new URLSearchParams(query).toString()}`;
}
