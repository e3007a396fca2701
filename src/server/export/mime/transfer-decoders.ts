/** Takes octets as they arrive, in pieces cut anywhere. */
export type Sink = {
  write(bytes: Uint8Array): void;
  /** @returns whether everything was well-formed */
  end(): boolean;
};

/** Octets that need no decoding; `end` adds none. */
type Output = (bytes: Uint8Array) => void;

const [LF, CR, SPACE, TAB, EQUALS] = [0x0a, 0x0d, 0x20, 0x09, 0x3d];
const NONE = 0xff;
const BLANK = 0xfe;
const PAD = 0xfd;
const BASE64 = new Uint8Array(256).fill(NONE);
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
for (const [value, octet] of Buffer.from(ALPHABET).entries()) BASE64[octet] = value;
for (const blank of [0x09, 0x0a, 0x0d, 0x20]) BASE64[blank] = BLANK;
BASE64[0x3d] = PAD;

/** RFC 2045 §6.8. Characters outside the alphabet are ignored, as it says there, and reported at the end. */
export function base64(output: Output): Sink {
  let [bits, held, padded, isClean] = [0, 0, 0, true];
  return {
    write: (bytes) => {
      const out = new Uint8Array(Math.ceil((bytes.length * 3) / 4) + 3);
      let length = 0;
      for (const octet of bytes) {
        const value = BASE64[octet] ?? NONE;
        if (value < 64) {
          if (padded > 0) [isClean, padded, held, bits] = [false, 0, 0, 0];
          bits = (bits << 6) | value;
          held += 1;
          if (held === 4) {
            out[length] = bits >> 16;
            out[length + 1] = bits >> 8;
            out[length + 2] = bits;
            length += 3;
            [bits, held] = [0, 0];
          }
        } else if (value === PAD) {
          // A quantum with its padding is complete; whatever follows begins another one.
          if (held === 2) out[length++] = bits >> 4;
          else if (held === 3) {
            out[length++] = bits >> 10;
            out[length++] = bits >> 2;
          }
          [bits, held] = [0, 0];
          padded += 1;
        } else if (value === NONE) isClean = false;
      }
      if (length > 0) output(out.subarray(0, length));
    },
    end: () => {
      if (held === 2) output(Uint8Array.of(bits >> 4));
      else if (held === 3) output(Uint8Array.of(bits >> 10, bits >> 2));
      return isClean && held !== 1;
    },
  };
}

/** The longest line that is looked at as a whole. */
const LINE_LENGTH = 4096;

/**
 * Base64 text, which may be followed by plain lines: mailing lists and scanners add them to what they can't decode.
 * They are kept, and reported at the end.
 */
export function base64Text(output: Output): Sink {
  const encoded = base64(output);
  let held: Uint8Array = new Uint8Array(0);
  let [isBegun, isOver, isLeft] = [false, false, false];
  const readLine = (line: Uint8Array) => {
    isLeft = isBegun && isWords(line, isOver);
    if (isLeft) {
      output(Buffer.from('\r\n'));
      return output(line);
    }
    encoded.write(line);
    isBegun ||= line.length > 4;
    isOver ||= line.includes(EQUALS);
  };
  const read = (bytes: Uint8Array, isEnd: boolean) => {
    let at = 0;
    while (at < bytes.length) {
      const end = bytes.indexOf(LF, at);
      if (isLeft || (end < 0 && !isEnd && bytes.length - at < LINE_LENGTH)) break;
      const next = end < 0 ? bytes.length : end + 1;
      readLine(bytes.subarray(at, next));
      at = next;
    }
    if (isLeft && at < bytes.length) output(bytes.subarray(at));
    // A copy: the caller may reuse its own.
    held = new Uint8Array(isLeft ? [] : bytes.subarray(at));
  };
  return {
    write: (bytes) => read(held.length === 0 ? bytes : Buffer.concat([held, bytes]), false),
    end: () => {
      read(held, true);
      return encoded.end() && !isLeft;
    },
  };
}

/**
 * Whether a line is plain words and not base64. Before the padding has shown the end of base64, a few foreign
 * characters are not enough.
 */
function isWords(line: Uint8Array, isOver: boolean): boolean {
  let [signs, foreign, hasBlank, isDivided] = [0, 0, false, false];
  for (const octet of line) {
    const value = BASE64[octet] ?? NONE;
    if (value === BLANK) hasBlank = signs > 0;
    else {
      signs += 1;
      isDivided ||= hasBlank;
      if (value === NONE) foreign += 1;
    }
  }
  if (isOver) return isDivided || foreign > 0;
  return signs > 0 && (foreign * 2 >= signs || (isDivided && foreign > 0));
}

const HEX = new Int8Array(256).fill(-1);
for (const [value, octet] of Buffer.from('0123456789ABCDEF').entries()) HEX[octet] = value;
for (const [value, octet] of Buffer.from('0123456789abcdef').entries()) HEX[octet] = value;

/** RFC 2045 §6.7. Whatever is not an escape stays as it is. */
export function quotedPrintable(output: Output): Sink {
  // An escape, or blanks that are dropped if the line ends after them, cut off by the end of a piece.
  let held: Uint8Array = new Uint8Array(0);
  const decode = (bytes: Uint8Array, isEnd: boolean) => {
    const out = new Uint8Array(bytes.length);
    let [length, at] = [0, 0];
    for (; at < bytes.length; at += 1) {
      const octet = bytes[at] ?? 0;
      if (octet === SPACE || octet === TAB) {
        let next = at;
        while (bytes[next] === SPACE || bytes[next] === TAB) next += 1;
        // Endless blanks are not the end of a line; 1,000 is more than any line has.
        if (next === bytes.length && !isEnd && next - at < 1000) break;
        const endsLine =
          next === bytes.length || bytes[next] === LF || (bytes[next] === CR && (bytes[next + 1] ?? LF) === LF);
        if (!endsLine || next - at >= 1000)
          for (let from = at; from < next; from += 1) out[length++] = bytes[from] ?? 0;
        at = next - 1;
      } else if (octet === EQUALS) {
        let next = at + 1;
        while (bytes[next] === SPACE || bytes[next] === TAB) next += 1;
        const rest = bytes.length - next;
        if (!isEnd && (rest === 0 || (rest === 1 && bytes[next] !== LF)) && next - at < 1000) break;
        if (bytes[next] === LF || rest === 0) at = next;
        else if (bytes[next] === CR && bytes[next + 1] === LF) at = next + 1;
        else {
          const [high, low] = [HEX[bytes[at + 1] ?? 0] ?? -1, HEX[bytes[at + 2] ?? 0] ?? -1];
          if (high >= 0 && low >= 0) {
            out[length++] = high * 16 + low;
            at += 2;
          } else out[length++] = EQUALS;
        }
      } else out[length++] = octet;
    }
    if (length > 0) output(out.subarray(0, length));
    // A copy: a Buffer's own `slice` would be a view of octets that the caller may reuse.
    held = new Uint8Array(bytes.subarray(at));
  };
  return {
    write: (bytes) => decode(held.length === 0 ? bytes : Buffer.concat([held, bytes]), false),
    end: () => {
      decode(held, true);
      return true;
    },
  };
}

export function asIs(output: Output): Sink {
  return { write: output, end: () => true };
}
