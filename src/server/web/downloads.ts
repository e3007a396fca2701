import type { Context, Hono } from 'hono';
import * as v from 'valibot';
import { deleteExport as deletion, EXPORT_FILE } from '../../contract/calls/export-file.ts';
import type { Settings } from '../../contract/settings.ts';
import { limitedBody, ownJson } from './guards.ts';
import type { Log } from '../log.ts';
import { Refusal } from './refusal.ts';
import type { Database } from '../store/database.ts';
import type { Vault } from '../store/vault.ts';
import { namesTag, namesTagWeakly, rangeOf } from '../export/download/byte-range.ts';
import { FileGoneError, type ExportStore, type OctetRange } from '../export/storage/export-store.ts';
import { isProven, offeredFile, type OfferedFile, type Proof } from '../export/download/links.ts';
import { deleteExport } from '../export/download/sweeper.ts';

export type DownloadServices = {
  readonly settings: Settings;
  readonly database: Database;
  readonly vault: Vault;
  readonly log: Log;
  readonly exports: ExportStore;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
};

const Asked = v.object({
  exportName: v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/)),
  expires: v.pipe(v.string(), v.regex(/^\d{1,12}$/), v.transform(Number)),
  signature: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
});
const FileName = v.pipe(v.string(), v.regex(/^part-\d{1,6}-[0-9a-f]{8}\.zip$/));

/**
 * Serves finished exports by their signed links, and deletes them by the same signature. To be mounted before whatever
 * answers all of `/api/`.
 */
export function mountExports(app: Hono, services: DownloadServices): void {
  app.get(EXPORT_FILE, async (c) => {
    const proof = proofOf(c, services);
    const name = v.safeParse(FileName, c.req.param('file'));
    const file = proof === null || !name.success ? null : await offeredFile(services, proof, name.output);
    if (file === null) throw notThere();
    return download(c, file, services);
  });
  app.post(deletion.path, ownJson(services.settings), limitedBody, async (c) => {
    const proof = proofOf(c, services);
    if (proof === null || !(await deleteExport(services, proof.exportName))) throw notThere();
    return c.json({ ok: true });
  });
}

function proofOf(c: Context, services: DownloadServices): Proof | null {
  const asked = v.safeParse(Asked, {
    exportName: c.req.param('export'),
    expires: c.req.query('expires'),
    signature: c.req.query('signature'),
  });
  return asked.success && isProven(services, asked.output) ? asked.output : null;
}

/** The same for a wrong link, one whose days are over, and one whose files were deleted. */
function notThere(): Refusal {
  return new Refusal(
    404,
    'GENERAL_ERROR',
    'There are no files at this address, or not any more: they are deleted after some days. Your mail is safe in your mailbox. Please start a new export if you need one.',
  );
}

async function download(c: Context, file: OfferedFile, { exports, log }: DownloadServices): Promise<Response> {
  const tag = `"${file.sha256}"`;
  const headers = {
    'Accept-Ranges': 'bytes',
    ETag: tag,
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "sandbox; default-src 'none'",
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
  try {
    const stream = await exports.read(file.exportName, file.name, octets, c.req.raw.signal);
    return c.body(stream, status, described);
  } catch (error) {
    if (!(error instanceof FileGoneError)) throw error;
    log.error({ export: file.exportId }, 'a file that is offered is not in EXPORTS_URL');
    throw notThere();
  }
}

type Conditions = {
  readonly ifMatch: boolean;
  readonly ifNoneMatch: boolean;
  readonly range: OctetRange | 'unsatisfiable' | null;
};

/** RFC 9110 §13.2.2. A date in `If-Range` never fits: no `Last-Modified` was given out. */
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

/** RFC 6266, with the fallback of its Appendix D for programs that know only ASCII. */
export function dispositionOf(title: string): string {
  const fallback = title
    .normalize('NFKD')
    .replaceAll(/[^\x20-\x7e]/g, '')
    .replaceAll(/["\\%]/g, '_');
  const encoded = encodeURIComponent(title).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${fallback}"; filename*=UTF-8''${encoded}`;
}
