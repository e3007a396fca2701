/** Characters and lines of messages, by their octets. */
export const [LF, CR, DASH, SPACE, TAB] = [0x0a, 0x0d, 0x2d, 0x20, 0x09];
const DASHES = Buffer.from('\n--');

/** Whether a header can begin with this line: a field, or an mbox's own line, also as an older mbox quoted it. */
export function beginsHeader(line: Buffer): boolean {
  const colon = line.indexOf(0x3a);
  const isField = colon > 0 && line.subarray(0, colon).every((octet) => octet > SPACE && octet < 0x7f);
  const start = line.toString('latin1', 0, 100);
  return isField || /^[\x21-\x7e]+[ \t]+:/.test(start) || /^>{0,9}From /.test(start);
}

export function withLf(bytes: Buffer): Buffer {
  return Buffer.from(bytes.map((octet) => (octet === CR ? LF : octet)));
}

export function withoutEnd(line: Buffer): Buffer {
  let end = line.length;
  if (line[end - 1] === LF) end -= 1;
  // Some programs write it twice.
  while (line[end - 1] === CR) end -= 1;
  return line.subarray(0, end);
}

export function startsDashes(bytes: Buffer, at: number): boolean {
  return bytes[at] === DASH && bytes[at + 1] === DASH;
}

/** Where the next line after `from` that starts with two dashes begins. */
export function nextDashes(bytes: Buffer, from: number): number | undefined {
  const found = bytes.indexOf(DASHES, from);
  return found < 0 ? undefined : found + 1;
}

export function lineEndBefore(bytes: Buffer, line: number, from: number): number {
  let end = line;
  if (end > from && bytes[end - 1] === LF) end -= 1;
  if (end > from && bytes[end - 1] === CR) end -= 1;
  return end;
}

/** Where a delimiter whose dashes have not arrived yet may begin, with the line end before it. */
export function delimiterStart(bytes: Buffer, from: number, atLineStart: boolean): number {
  let start = bytes.length;
  if (start > from && bytes[start - 1] === DASH) {
    if (start - 1 === from && atLineStart) return from;
    if (bytes[start - 2] !== LF) return start;
    start -= 1;
  }
  if (start > from && bytes[start - 1] === CR) return start - 1;
  return lineEndBefore(bytes, start, from);
}
