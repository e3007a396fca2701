import * as v from 'valibot';
import type { Call } from './call.ts';
import { Ok } from './ok.ts';

/** Where a file of a finished export is fetched. */
export const EXPORT_FILE = '/api/exports/:export/:file';

/** What proves that a link was given out: the query of a file's address, and of the deletion. `expires` is Unix seconds. */
const Signature = v.object({ expires: v.string(), signature: v.string() });
type Signature = v.InferOutput<typeof Signature>;

/** The path and query under which a file of an export is fetched. */
export function exportFileAddress(exportName: string, file: string, signature: Signature): string {
  const path = EXPORT_FILE.replace(':export', () => exportName).replace(':file', () => file);
  return `${path}?${new URLSearchParams(signature).toString()}`;
}

/** Deletes all files of an export, by the signature of any of them. */
export const deleteExport = {
  method: 'POST',
  path: '/api/exports/:export/delete/',
  Query: Signature,
  Request: v.object({}),
  Answer: Ok,
} as const satisfies Call;

/** The call that deletes the export which a file's address leads into. */
export function deletionOf(url: string, base: string): { path: `/api/${string}/`; query: Signature } {
  const { pathname, searchParams } = new URL(url, base);
  const name = pathname.split('/')[EXPORT_FILE.split('/').indexOf(':export')] ?? '';
  return {
    path: deleteExport.path.replace(':export', () => name) as `/api/${string}/`,
    query: { expires: searchParams.get('expires') ?? '', signature: searchParams.get('signature') ?? '' },
  };
}
