import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, extname, join, relative, sep } from 'node:path';
import type { Context } from 'hono';

type Encoding = 'br' | 'gzip';
type PortalFile = {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly type: string;
  readonly etag: string;
  readonly encoded: Partial<Record<Encoding, Uint8Array<ArrayBuffer>>>;
};

/** The built portal, read once at the start, so that no part of a URL is ever used as a file path. */
export type PortalFiles = ReadonlyMap<string, PortalFile>;

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
  '.json': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
};
const ENCODINGS: Record<string, Encoding> = { '.br': 'br', '.gz': 'gzip' };
/** Where the files lie whose names hold a digest of what is in them. */
const ASSETS = '/assets/';
const YEAR_SECONDS = 365 * 24 * 3600;

/** @param earlier folders of other builds, the newest first: only what is named by its content is taken of them */
export async function readPortalFiles(folder: string, earlier: readonly string[] = []): Promise<PortalFiles> {
  const files = await filesOf(folder, () => true);
  for (const other of earlier) {
    const isMissing = (path: string) => path.startsWith(ASSETS) && !files.has(path);
    // A start beside this one may be deleting it.
    const found = await filesOf(other, isMissing).catch(() => new Map<string, PortalFile>());
    for (const [path, file] of found) files.set(path, file);
  }
  return files;
}

async function filesOf(folder: string, isWanted: (path: string) => boolean): Promise<Map<string, PortalFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const bodies = new Map<string, Uint8Array<ArrayBuffer>>();
  for (const entry of entries) {
    const file = join(entry.parentPath, entry.name);
    const path = `/${relative(folder, file).split(sep).join('/')}`;
    const plain = extname(path) in ENCODINGS ? path.slice(0, -extname(path).length) : path;
    if (entry.isFile() && isWanted(plain)) bodies.set(path, new Uint8Array(await readFile(file)));
  }
  const files = new Map<string, PortalFile>();
  for (const [path, body] of bodies) {
    if (extname(path) in ENCODINGS || extname(path) === '.map') continue;
    const encoded: PortalFile['encoded'] = {};
    for (const [suffix, encoding] of Object.entries(ENCODINGS)) {
      const smaller = bodies.get(`${path}${suffix}`);
      if (smaller !== undefined) encoded[encoding] = smaller;
    }
    files.set(path, {
      body,
      encoded,
      type: TYPES[extname(path)] ?? 'application/octet-stream',
      etag: `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
    });
  }
  return files;
}

/** A file of the portal, or its HTML page for any path that may be one of its routes; `null` for anything else. */
export function servePortal(c: Context, files: PortalFiles): Response | null {
  const { path } = c.req;
  const file = files.get(path);
  if (file !== undefined && path !== '/index.html') return send(c, file, path.startsWith(ASSETS));
  if (path.startsWith(ASSETS) || basename(path).includes('.')) return null;
  const page = files.get('/index.html');
  return page === undefined ? null : send(c, page, false);
}

function send(c: Context, file: PortalFile, immutable: boolean): Response {
  const accepted = (c.req.header('accept-encoding') ?? '').split(',').map((entry) => entry.trim().split(';')[0]);
  const encoding = (['br', 'gzip'] as const).find(
    (name) => accepted.includes(name) && file.encoded[name] !== undefined,
  );
  const headers = {
    'Cache-Control': immutable ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache',
    ETag: file.etag,
    Vary: 'Accept-Encoding',
  };
  if (c.req.header('if-none-match')?.includes(file.etag) === true) return c.body(null, 304, headers);
  const body = encoding === undefined ? file.body : (file.encoded[encoding] ?? file.body);
  return c.body(body, 200, {
    ...headers,
    'Content-Type': file.type,
    ...(encoding === undefined ? {} : { 'Content-Encoding': encoding }),
  });
}
