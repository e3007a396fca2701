import type { KeyObject } from 'node:crypto';
import { createHash } from 'node:crypto';
import type { Context, Hono } from 'hono';
import { RECEIPT, RECEIPT_KEY, ReceiptQuery, type ReceiptFormat } from '../../contract/calls/receipt.ts';
import { statusAddress } from '../../contract/page-address.ts';
import { factsOf } from '../receipt/facts.ts';
import { publicPem, receiptKey } from '../receipt/signing.ts';
import { STYLE, writeReceipt } from '../receipt/write-receipt.ts';
import { askerOf } from './browser.ts';
import { parse } from './calls/route.ts';
import { dispositionOf } from './downloads.ts';
import { clientOf } from './guards.ts';
import { requireManager } from './permission.ts';
import { openPlaces } from './places.ts';
import { Refusal } from './refusal.ts';
import type { Web } from './services.ts';
import { mayRest } from './bounded-server.ts';
import { streamed } from './streamed.ts';

type Receipts = Pick<Web, 'settings' | 'vault' | 'database' | 'log' | 'limits' | 'owners' | 'sessions' | 'securityLog'>;

const TYPES: Readonly<Record<ReceiptFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  json: 'application/json; charset=utf-8',
  html: 'text/html; charset=utf-8',
};
/** In characters. */
const PART_LENGTH = 32 * 1024;
/** How many receipts of one transfer may be written at a time: each reads all of its messages. */
export const RECEIPTS_AT_ONCE = 5;
const STYLE_DIGEST = createHash('sha256').update(STYLE).digest('base64');

/** Serves receipts to anyone who may manage their transfer, and the public key that verifies them to everybody. */
export function mountReceipts(app: Hono, services: Receipts): void {
  const places = openPlaces<string>(
    RECEIPTS_AT_ONCE,
    'This receipt is being written too often at once. Please wait until one has ended.',
  );
  let pem: string | undefined;
  app.get(RECEIPT_KEY, (c) =>
    c.text((pem ??= publicPem(keyOf(services))), 200, { 'Content-Type': 'application/x-pem-file' }),
  );
  app.get(RECEIPT, async (c) => {
    const { settings, database, limits, log, securityLog } = services;
    const client = clientOf(c, settings);
    await limits.take('calls by a client', client);
    const { job_id: id, format } = parse(ReceiptQuery, c.req.query());
    await requireManager(services, askerOf(c, settings), id);
    const facts = await factsOf(database, id, settings.legacyName);
    if (facts === null)
      throw new Refusal(409, 'OPERATION_NOT_ALLOWED', 'The receipt is there once the transfer has ended.', {
        page: statusAddress(id),
      });
    places.take(c, id);
    securityLog('receipt handed out', { client, transferId: id });
    mayRest(c);
    const signing = { key: keyOf(services), keyAddress: `${settings.publicUrl}${RECEIPT_KEY}` };
    return answerOf(c, format, writeReceipt(format, database, facts, signing), facts.transfer, log);
  });
}

/** `RECEIPT_KEY` or, without it, a key derived from `SECRET_KEY`. */
function keyOf({ settings, vault }: Pick<Web, 'settings' | 'vault'>): KeyObject {
  const { receiptKey: given } = settings;
  return receiptKey(
    given === undefined ? Buffer.from(vault.digest('receipt key', ''), 'hex') : Buffer.from(given, 'base64'),
  );
}

async function* encoded(parts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let text = '';
  for await (const part of parts) {
    text += part;
    if (text.length < PART_LENGTH) continue;
    yield encoder.encode(text);
    text = '';
  }
  yield encoder.encode(text);
}

function answerOf(
  c: Context,
  format: ReceiptFormat,
  parts: AsyncIterable<string>,
  id: string,
  log: Receipts['log'],
): Response {
  const headers = {
    'Content-Type': TYPES[format],
    'Content-Security-Policy': `sandbox allow-modals; default-src 'none'; style-src 'sha256-${STYLE_DIGEST}'; frame-ancestors 'none'`,
    'X-Content-Type-Options': 'nosniff',
    ...(format === 'html'
      ? {}
      : { 'Content-Disposition': dispositionOf(`Transfer receipt ${id.slice(0, 8)}.${format}`) }),
  };
  return c.body(streamed(c, encoded(parts), log), 200, headers);
}
