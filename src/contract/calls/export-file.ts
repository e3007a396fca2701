import * as v from 'valibot';
import type { Call } from './call.ts';
import { Ok } from './ok.ts';

/** The route of a file of a finished export. */
export const EXPORT_FILE = '/api/exports/:export/:file';

/** The path of a file of an export. */
export function exportFileAddress(exportName: string, file: string): string {
  return EXPORT_FILE.replace(':export', () => exportName).replace(':file', () => file);
}

/** Deletes all files of an export. */
export const deleteExport = {
  method: 'POST',
  path: '/api/exports/:export/delete/',
  Request: v.object({}),
  Answer: Ok,
} as const satisfies Call;

/** The path that deletes the export to which the file at `url` belongs. */
export function deletionOf(url: string, base: string): `/api/${string}/` {
  const name = new URL(url, base).pathname.split('/')[EXPORT_FILE.split('/').indexOf(':export')] ?? '';
  return deleteExport.path.replace(':export', () => name) as `/api/${string}/`;
}
