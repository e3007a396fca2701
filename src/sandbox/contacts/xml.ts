/** An XML element with its namespace. `text` includes the text of its descendants. */
export type Element = {
  readonly namespace: string;
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly Element[];
  readonly text: string;
};

/** The document is not well formed, or uses what WebDAV has no need of: a document type, custom entities. */
export class XmlError extends Error {
  override name = 'XmlError';
}

const DEEPEST = 32;
const TOKEN =
  /<!--[\s\S]*?-->|<!\[CDATA\[([\s\S]*?)\]\]>|<\?[\s\S]*?\?>|<(\/?)([^\s<>/!?]+)((?:\s+[^\s=<>/]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|([^<]+)|</g;
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

type Open = {
  readonly tag: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly spaces: ReadonlyMap<string, string>;
  readonly children: Element[];
  text: string;
};

/** Parses a document and returns its root element. @throws {XmlError} */
export function readXml(document: string): Element {
  const root: Open = { tag: '', attributes: new Map(), spaces: new Map(), children: [], text: '' };
  const stack: Open[] = [root];
  for (const [token, cdata, closing, tag = '', attributes = '', empty, text] of document.matchAll(TOKEN)) {
    const top = stack.at(-1) ?? root;
    if (token === '<') throw new XmlError('A tag does not end, or is not allowed here.');
    if (cdata !== undefined) top.text += cdata;
    else if (text !== undefined) top.text += unescape(text);
    else if (closing === '/') close(stack, tag);
    else if (tag !== '') {
      if (stack.length > DEEPEST) throw new XmlError('The elements are nested too deep.');
      stack.push(open(tag, attributes, top.spaces));
      if (empty === '/') close(stack, tag);
    }
  }
  const [element] = root.children;
  if (stack.length !== 1 || element === undefined) throw new XmlError('The document is cut off.');
  return element;
}

function open(tag: string, text: string, outer: ReadonlyMap<string, string>): Open {
  const attributes = new Map<string, string>();
  const spaces = new Map(outer);
  for (const [, name = '', quoted = ''] of text.matchAll(/([^\s=]+)\s*=\s*("[^"]*"|'[^']*')/g)) {
    const value = unescape(quoted.slice(1, -1));
    if (name === 'xmlns') spaces.set('', value);
    else if (name.startsWith('xmlns:')) spaces.set(name.slice(6), value);
    else attributes.set(name, value);
  }
  return { tag, attributes, spaces, children: [], text: '' };
}

function close(stack: Open[], tag: string): void {
  const element = stack.pop();
  const parent = stack.at(-1);
  if (element === undefined || parent === undefined || element.tag !== tag)
    throw new XmlError(`${tag} closes nothing.`);
  const [prefix, name] = tag.includes(':') ? tag.split(':', 2) : ['', tag];
  const namespace = element.spaces.get(prefix ?? '') ?? '';
  const { attributes, children, text } = element;
  parent.children.push({ namespace, name: name ?? '', attributes, children, text });
  parent.text += text;
}

function unescape(text: string): string {
  return text.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (_, decimal?: string, hex?: string, name?: string) => {
    const code = decimal === undefined ? Number.parseInt(hex ?? 'x', 16) : Number(decimal);
    if (code > 0 && code <= 0x10ffff) return String.fromCodePoint(code);
    const known = ENTITIES[name ?? ''];
    if (known === undefined) throw new XmlError('An entity is unknown.');
    return known;
  });
}

export function escapeXml(text: string): string {
  return text.replace(/[&<>"\r]/g, (char) => `&#${char.charCodeAt(0)};`);
}
