import type { Context, Hono } from 'hono';
import * as v from 'valibot';
import { deleteExport as deletion, EXPORT_FILE } from '../../contract/calls/export-file.ts';
import { statusAddress } from '../../contract/page-address.ts';
import { askerOf } from './browser.ts';
import { clientOf, limitedBody, ownJson, unavailable } from './guards.ts';
import { mayManage } from './permission.ts';
import { openPlaces, type Places } from './places.ts';
import { Refusal } from './refusal.ts';
import type { Web } from './services.ts';
import { mayRest } from './bounded-server.ts';
import { streamed } from './streamed.ts';
import { namesTag, namesTagWeakly, rangeOf } from '../export/download/byte-range.ts';
import { FileGoneError, StoreError, type OctetRange } from '../export/storage/export-store.ts';
import { checked, piecesWith } from '../export/storage/pieces.ts';
import { offeredFile, transferOfExport, type OfferedFile } from '../export/download/links.ts';
import { deleteExport } from '../export/download/sweeper.ts';
import { normalized } from '../normalized.ts';

const ExportName = v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/));
const FileName = v.pipe(v.string(), v.regex(/^part-\d{1,6}-[0-9a-f]{8}\.zip$/));

type Downloading = Pick<
  Web,
  'settings' | 'database' | 'log' | 'limits' | 'exports' | 'now' | 'owners' | 'sessions' | 'verifiers' | 'securityLog'
>;

/**
 * How many downloads of one export may run at a time: each takes some memory, and may pause. Download managers use some
 * 16 connections.
 */
export const DOWNLOADS_AT_ONCE = 20;
/** Long enough for an operator to fix a disk. */
const STORE_RETRY_SECONDS = 60;

/** Someone who may manage the transfer, as recorded in the security log. */
type Asker = { readonly client: string; readonly transferId: string };

/** Serves and deletes exports for those who may manage their transfer. To be mounted before the catch-all for `/api/`. */
export function mountExports(app: Hono, services: Downloading): void {
  const places = openPlaces<number>(
    DOWNLOADS_AT_ONCE,
    'Too many downloads of these files are under way. Please wait until one has ended.',
  );
  app.get(EXPORT_FILE, async (c) => {
    const { exportName, ...asker } = await ownExport(c, services);
    const name = v.safeParse(FileName, c.req.param('file'));
    const file = name.success ? await offeredFile(services, exportName, name.output) : null;
    if (file === null) throw notThere(asker.transferId);
    return download(c, file, asker, services, places);
  });
  app.post(deletion.path, ownJson(services.settings), limitedBody, async (c) => {
    const { exportName, ...asker } = await ownExport(c, services);
    if (!(await deleteExport(services, exportName))) throw notThere();
    services.securityLog('files deleted', asker);
    return c.json({ ok: true });
  });
}

/** @throws {Refusal} if the caller has no export at this address, or asks too often */
async function ownExport(c: Context, services: Downloading): Promise<Asker & { exportName: string }> {
  const client = clientOf(c, services.settings);
  await services.limits.take('calls by a client', client);
  const name = v.safeParse(ExportName, c.req.param('export'));
  const transferId = name.success ? await transferOfExport(services.database, name.output) : null;
  if (transferId === null) throw notThere();
  const facts = { client, transferId };
  if ((await mayManage(services, askerOf(c, services.settings), transferId)) !== true) {
    services.securityLog('call refused: not the owner', facts);
    throw notThere(transferId);
  }
  return { exportName: name.output as string, ...facts };
}

/**
 * The same answer for strangers, for wrong addresses, and for files that have expired or been deleted. A browser that
 * has followed an export's link, which can't be guessed, is redirected to the page of its transfer.
 */
function notThere(transferId?: string): Refusal {
  return new Refusal(
    404,
    'GENERAL_ERROR',
    'There are no files for you at this address. We delete files after a while. Please sign in on the status page of your transfer, or start a new export if you need one. Your mail is safe in your mailbox.',
    transferId === undefined ? {} : { page: statusAddress(transferId) },
  );
}

async function download(
  c: Context,
  file: OfferedFile,
  asker: Asker,
  { database, exports, log, securityLog }: Downloading,
  places: Places<number>,
): Promise<Response> {
  const tag = `"${file.sha256}"`;
  const headers = {
    'Accept-Ranges': 'bytes',
    ETag: tag,
    'Cache-Control': 'no-store',
    'Content-Security-Policy':
      "sandbox; default-src 'none'; frame-ancestors 'none'; base-uri 'none'; object-src 'none'",
    'X-Content-Type-Options': 'nosniff',
  };
  const { ifMatch, ifNoneMatch, range } = conditionsOf(c, tag, file.size);
  if (!ifMatch) return c.body(null, 412, headers);
  if (!ifNoneMatch) return c.body(null, 304, headers);
  if (range === 'unsatisfiable') return c.body(null, 416, { ...headers, 'Content-Range': `bytes */${file.size}` });
  const octets = range ?? { start: 0, end: file.size - 1 };
  const described = {
    ...headers,
    'Content-Type': 'application/zip',
    'Content-Length': String(octets.end - octets.start + 1),
    'Content-Disposition': dispositionOf(file.title),
    'Repr-Digest': `sha-256=:${Buffer.from(file.sha256, 'hex').toString('base64')}:`,
    ...(range === null ? {} : { 'Content-Range': `bytes ${range.start}-${range.end}/${file.size}` }),
  };
  const status = range === null ? 200 : 206;
  if (c.req.method === 'HEAD') return c.body(null, status, described);
  places.take(c, file.exportId);
  try {
    const pieces = await piecesWith(database, file, octets);
    const stream = await exports.read(file.exportName, file.name, pieces.range, c.req.raw.signal);
    const content = await begun(checked(stream, pieces, octets));
    mayRest(c);
    securityLog('file handed out', asker);
    return c.body(streamed(c, content, log), status, described);
  } catch (error) {
    if (error instanceof StoreError) {
      log.error(
        { transferId: asker.transferId, export: file.exportId, err: error },
        'a file that is offered can not be read: can EXPORTS_URL be used?',
      );
      throw unavailable(STORE_RETRY_SECONDS);
    }
    if (!(error instanceof FileGoneError)) throw error;
    log.error(
      { transferId: asker.transferId, export: file.exportId },
      'a file that is offered is not in EXPORTS_URL, or not as it was written',
    );
    throw notThere(asker.transferId);
  }
}

/** Checks the first piece before the answer is begun. @throws {FileGoneError} if it is damaged */
async function begun(octets: AsyncGenerator<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const first = octets.next();
  await first.catch((error: unknown) => {
    if (error instanceof FileGoneError) throw error;
  });
  return {
    async *[Symbol.asyncIterator]() {
      const { done, value } = await first;
      if (done === true) return;
      yield value;
      yield* octets;
    },
  };
}

type Conditions = {
  readonly ifMatch: boolean;
  readonly ifNoneMatch: boolean;
  readonly range: OctetRange | 'unsatisfiable' | null;
};

/** RFC 9110 §13.2.2. A date in `If-Range` never matches, because no answer has a `Last-Modified`. */
function conditionsOf(c: Context, tag: string, size: number): Conditions {
  const match = c.req.header('if-match');
  const noneMatch = c.req.header('if-none-match');
  const ifRange = c.req.header('if-range');
  const mayBePart = c.req.method === 'GET' && (ifRange === undefined || ifRange.trim() === tag);
  return {
    ifMatch: match === undefined || namesTag(match, tag),
    ifNoneMatch: noneMatch === undefined || !namesTagWeakly(noneMatch, tag),
    range: mayBePart ? rangeOf(c.req.header('range'), size) : null,
  };
}

/** A `Content-Disposition` (RFC 6266), with the ASCII fallback of its Appendix D. */
export function dispositionOf(title: string): string {
  const fallback = normalized(title, 'NFKD')
    .replaceAll(/[^\x20-\x7e]/g, '')
    .replaceAll(/["\\%]/g, '_');
  const encoded = encodeURIComponent(title).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${fallback}"; filename*=UTF-8''${encoded}`;
}
