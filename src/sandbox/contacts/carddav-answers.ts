import { type Element, escapeXml } from './xml.ts';

export const DAV = 'DAV:';
export const CARD = 'urn:ietf:params:xml:ns:carddav';
const PREFIXES: Readonly<Record<string, string>> = {
  [DAV]: 'd',
  [CARD]: 'card',
  'http://calendarserver.org/ns/': 'cs',
};

/** The properties of a resource, keyed by `namespace name`; the values are XML. */
type Properties = ReadonlyMap<string, string>;
export type Resource = { readonly href: string; readonly properties: Properties };

/** The properties that a request asks for; `null` for all of them. */
export function wantedProperties(request: Element | null): readonly Element[] | null {
  const prop = request?.children.find(({ namespace, name }) => namespace === DAV && name === 'prop');
  return prop === undefined ? null : prop.children;
}

/** A multistatus (RFC 4918 §13): for each resource, the wanted properties that it has, and a 404 for the others. */
export function multistatus(
  resources: readonly Resource[],
  missing: readonly string[],
  wanted: readonly Element[] | null,
): string {
  const responses = resources.map(({ href, properties }) => {
    const names = wanted?.map(({ namespace, name }) => `${namespace} ${name}`) ?? [...properties.keys()];
    const found = names.filter((name) => properties.has(name));
    const unknown = names.filter((name) => !properties.has(name));
    return `<d:response><d:href>${escapeXml(href)}</d:href>${[
      propstat(found, properties, '200 OK'),
      propstat(unknown, properties, '404 Not Found'),
    ].join('')}</d:response>`;
  });
  const gone = missing.map(
    (href) => `<d:response><d:href>${escapeXml(href)}</d:href><d:status>HTTP/1.1 404 Not Found</d:status></d:response>`,
  );
  const body = [...responses, ...gone].join('\n');
  return `<?xml version="1.0" encoding="utf-8"?>\n<d:multistatus xmlns:d="DAV:" xmlns:card="${CARD}" xmlns:cs="http://calendarserver.org/ns/">\n${body}\n</d:multistatus>\n`;
}

function propstat(names: readonly string[], properties: Properties, status: string): string {
  if (names.length === 0) return '';
  const elements = names.map((key) => {
    const [namespace = '', name = ''] = key.split(' ');
    const prefix = PREFIXES[namespace];
    const value = properties.get(key) ?? '';
    return prefix === undefined
      ? `<${name} xmlns="${escapeXml(namespace)}"/>`
      : `<${prefix}:${name}>${value}</${prefix}:${name}>`;
  });
  return `<d:propstat><d:prop>${elements.join('')}</d:prop><d:status>HTTP/1.1 ${status}</d:status></d:propstat>`;
}

/** An error body that names the violated precondition (RFC 4918 §16). */
export function precondition(namespace: typeof DAV | typeof CARD, name: string): string {
  return `<?xml version="1.0" encoding="utf-8"?>\n<error xmlns="DAV:"><${name} xmlns="${namespace}"/></error>\n`;
}
