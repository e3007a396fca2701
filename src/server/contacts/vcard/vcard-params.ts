/** `name` in upper case, values unquoted. */
export type VcardParam = { readonly name: string; readonly values: readonly string[] };

const ENCODINGS: ReadonlySet<string> = new Set(['BASE64', 'B', 'QUOTED-PRINTABLE', '7BIT', '8BIT']);

/** The parameter that begins at `start`, and where what follows it begins; `null` if its quotes have no end. */
export function parseParam(line: string, start: number): { param: VcardParam; next: number } | null {
  const key = /^[^=;:,"]*/.exec(line.slice(start, start + 256))?.[0] ?? '';
  let at = start + key.length;
  const name = key.trim().toUpperCase();
  if (line[at] !== '=') {
    // vCard 2.1 writes a bare `HOME` for `TYPE=HOME`.
    return { param: { name: ENCODINGS.has(name) ? 'ENCODING' : 'TYPE', values: [key.trim()] }, next: at };
  }
  const values: string[] = [];
  do {
    at += 1;
    if (line[at] === '"') {
      const close = line.indexOf('"', at + 1);
      if (close < 0) return null;
      // RFC 6350 §5.6 shows `TYPE="voice,home"`: a list inside the quotes.
      const quoted = decodeParam(line.slice(at + 1, close));
      for (const value of name === 'TYPE' ? quoted.split(',') : [quoted]) values.push(value);
      at = close + 1;
    } else {
      const value = /^[^,;:"]*/.exec(line.slice(at))?.[0] ?? '';
      values.push(decodeParam(value));
      at += value.length;
    }
  } while (line[at] === ',');
  return { param: { name, values }, next: at };
}

/** RFC 6868. */
function decodeParam(value: string): string {
  return value.replaceAll(/\^([n'^])/g, (_, mark: string) => (mark === 'n' ? '\n' : mark === "'" ? '"' : '^'));
}

export function encodeParam(value: string): string {
  const encoded = value
    .replaceAll('^', '^^')
    .replaceAll(/\r\n|\r|\n/g, '^n')
    .replaceAll('"', "^'");
  return /[,;:]/.test(encoded) ? `"${encoded}"` : encoded;
}
