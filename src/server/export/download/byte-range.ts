import type { OctetRange } from '../storage/export-store.ts';

/**
 * What a `Range` field asks for (RFC 9110 §14.1.2): a range, `unsatisfiable`, or `null` for the whole file: if there is
 * no field, it is malformed, or it asks for several ranges, which a server may answer with everything (§14.2).
 */
export function rangeOf(field: string | undefined, size: number): OctetRange | 'unsatisfiable' | null {
  const found = /^bytes[ \t]*=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(field ?? '');
  if (found === null) return null;
  const [, first = '', last = ''] = found;
  if (first === '' && last === '') return null;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < start) return null;
  return start >= size ? 'unsatisfiable' : { start, end };
}

/** Whether a list of entity tags names this strong one, by strong comparison (RFC 9110 §8.8.3.2). */
export function namesTag(field: string, tag: string): boolean {
  return field.trim() === '*' || field.split(',').some((each) => each.trim() === tag);
}

/** The same by weak comparison, as for `If-None-Match`. */
export function namesTagWeakly(field: string, tag: string): boolean {
  return namesTag(field.replaceAll(/(^|,)\s*W\//g, '$1'), tag);
}
