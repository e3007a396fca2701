import type { DAVResponse } from 'tsdav';

// What a server says of a resource (RFC 4918 §15, RFC 6352 §5.2), as tsdav reads it.

export function nameOf({ props }: DAVResponse): string {
  return textOf(props?.['displayname']).trim();
}

export function isBook({ props }: DAVResponse): boolean {
  const type: unknown = props?.['resourcetype'];
  return typeof type === 'object' && type !== null && 'addressbook' in type;
}

export function isCollection(props: DAVResponse['props']): boolean {
  const type: unknown = props?.['resourcetype'];
  return typeof type === 'object' && type !== null && 'collection' in type;
}

/** Whether an answer of depth 1 shows a collection, and nothing in it, not even what it does not describe. */
export function isEmptyCollection([first, ...others]: readonly DAVResponse[]): boolean {
  return first?.status === 207 && others.length === 0 && isCollection(first.props);
}

export function hrefsOf({ props }: DAVResponse, property: string): string[] {
  const value: unknown = props?.[property];
  if (typeof value !== 'object' || value === null || !('href' in value)) return [];
  return [value.href].flat().filter((href) => typeof href === 'string');
}

/** tsdav turns texts that look like numbers into numbers, and CDATA into objects. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null || !('_cdata' in value)) return '';
  const { _cdata: cdata } = value;
  return Array.isArray(cdata) ? cdata.join('') : textOf(cdata);
}
