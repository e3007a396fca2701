import { isAscii, isUtf8 } from 'node:buffer';

/** Decodes octets that arrive in pieces. `encoding` is the name by which the web knows the charset, if it does. */
export type CharsetDecoder = Pick<TextDecoder, 'encoding'> & {
  decode(octets?: Uint8Array, options?: { readonly stream?: boolean }): string;
};

/** Names that mail uses and that the web's list of encodings lacks. */
const ALIASES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'latin-1': 'windows-1252',
    utf_8: 'utf-8',
    utf8mb4: 'utf-8',
    cp932: 'shift_jis',
    cp936: 'gbk',
    cp949: 'euc-kr',
    cp950: 'big5',
    cp874: 'windows-874',
    eucjp: 'euc-jp',
    'iso-2022-jp-1': 'iso-2022-jp',
    'iso-2022-jp-2': 'iso-2022-jp',
    'iso-2022-jp-ms': 'iso-2022-jp',
    cp50220: 'iso-2022-jp',
    cp50221: 'iso-2022-jp',
    'iso-8859-8-e': 'iso-8859-8',
  }),
);

/** The upper halves of code pages that DOS and OS/2 wrote mail in. */
const CODE_PAGES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    437: 'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
    850: 'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
    852: 'ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u00ad˝˛ˇ˘§÷¸°¨˙űŘř■\u00a0',
  }),
);

/** What programs state that do not know the charset: such text is read by its octets. */
const NO_CHARSETS = new Set(['', 'us-ascii', 'ascii', 'ansi', 'default', 'unknown', 'x-unknown', 'unknown-8bit']);

export function isUnlabelled(charset: string): boolean {
  return NO_CHARSETS.has(charset.trim().toLowerCase());
}

/** Whether its escapes show that it is ISO-2022-JP. */
export function isJapanese(octets: Buffer): boolean {
  return octets.includes('\u001b$B') || octets.includes('\u001b$@');
}

/** Text without a charset: UTF-8 if it is valid, else windows-1252, which has a character for every octet. */
export function decodeUnlabelled(octets: Buffer): string {
  if (isAscii(octets) && isJapanese(octets)) return new TextDecoder('iso-2022-jp').decode(octets);
  return isUtf8(octets) ? octets.toString('utf8') : new TextDecoder('windows-1252').decode(octets);
}

/** @returns `undefined` for an unknown charset */
export function decoderOf(charset: string): CharsetDecoder | undefined {
  const name = charset.trim().toLowerCase();
  const own = OWN.get(name) ?? codePage(name);
  if (own !== undefined) return own();
  try {
    return new TextDecoder(ALIASES.get(name) ?? name);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Charsets that browsers, and so `TextDecoder`, no longer read. */
const OWN: ReadonlyMap<string, () => CharsetDecoder> = new Map(
  Object.entries({
    'utf-7': openUtf7,
    'unicode-1-1-utf-7': openUtf7,
    'iso-2022-kr': openKorean,
    'hz-gb-2312': openChinese,
  }),
);

function codePage(name: string): (() => CharsetDecoder) | undefined {
  const upper = CODE_PAGES.get(/^(?:cp|ibm)-?(\d{3})$/.exec(name)?.[1] ?? '');
  if (upper === undefined) return undefined;
  const sign = (octet: number) => (octet < 0x80 ? String.fromCharCode(octet) : (upper[octet - 0x80] ?? ''));
  return () => openSigns(name, sign);
}

const NOTHING = new Uint8Array();

function openSigns(encoding: string, signOf: (octet: number) => string, end = () => ''): CharsetDecoder {
  /** The first half of a surrogate pair whose second one has not come. */
  let half = '';
  return {
    encoding,
    decode: (octets = NOTHING, { stream = false } = {}) => {
      let text = half;
      for (const octet of octets) text += signOf(octet);
      if (!stream) return text + end();
      half = /[\ud800-\udbff]$/.exec(text)?.[0] ?? '';
      return text.slice(0, text.length - half.length);
    },
  };
}

/** Outputs what an octet stands for in an eight-bit charset: nothing, itself, or up to two octets. */
type Unshift = (octet: number, put: (octet: number) => void) => void;

/** A seven-bit charset that marks where the characters of an eight-bit one begin and end. */
function openShifted(encoding: string, unshift: Unshift): CharsetDecoder {
  const decoder = new TextDecoder(encoding);
  return {
    encoding,
    decode: (octets = NOTHING, options = {}) => {
      const plain = new Uint8Array(2 * octets.length);
      let length = 0;
      const put = (octet: number) => {
        plain[length] = octet;
        length += 1;
      };
      for (const octet of octets) unshift(octet, put);
      return decoder.decode(plain.subarray(0, length), options);
    },
  };
}

const [LF, SHIFT_OUT, SHIFT_IN, ESCAPE, SPACE, OPEN, CLOSE, TILDE] = [0x0a, 0x0e, 0x0f, 0x1b, 0x20, 0x7b, 0x7d, 0x7e];
/** The length of `ESC $ ) C`, which announces Korean (RFC 1557). */
const DESIGNATOR = 4;

function openKorean(): CharsetDecoder {
  let [isShifted, skipped] = [false, 0];
  return openShifted('euc-kr', (octet, put) => {
    if (skipped > 0) {
      skipped -= 1;
      return;
    }
    if (octet === ESCAPE) skipped = DESIGNATOR - 1;
    else if (octet === SHIFT_OUT || octet === SHIFT_IN) isShifted = octet === SHIFT_OUT;
    else put(isShifted && octet > SPACE ? octet | 0x80 : octet);
    if (octet === LF) isShifted = false;
  });
}

/**
 * `~{` begins Chinese and `~}` ends it; `~~` is a tilde, and a line with one at its end goes on in the next (RFC 1843).
 */
function openChinese(): CharsetDecoder {
  let [isShifted, isEscape] = [false, false];
  return openShifted('gbk', (octet, put) => {
    if (!isEscape) {
      isEscape = octet === TILDE;
      if (!isEscape) put(isShifted && octet > SPACE ? octet | 0x80 : octet);
      if (octet === LF) isShifted = false;
      return;
    }
    isEscape = false;
    if (octet === OPEN || octet === CLOSE) isShifted = octet === OPEN;
    else if (octet !== LF) {
      put(TILDE);
      if (octet !== TILDE) put(octet);
    }
  });
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const VALUES = new Map(Array.from(ALPHABET, (sign, value) => [sign.charCodeAt(0), value]));
const [PLUS, MINUS] = [0x2b, 0x2d];

/** Base64 of UTF-16 from `+` up to `-`, or to anything else that is no base64; `+-` is a plus (RFC 2152). */
function openUtf7(): CharsetDecoder {
  let [bits, held, isShifted, isFirst] = [0, 0, false, false];
  /** U+FFFD if the last character is incomplete. */
  const unshifted = () => {
    const isWhole = !isShifted || (held < 6 && (bits & ((1 << held) - 1)) === 0);
    isShifted = false;
    return isWhole ? '' : '\uFFFD';
  };
  const signOf = (octet: number) => {
    if (!isShifted) {
      if (octet !== PLUS) return String.fromCharCode(octet);
      [bits, held, isShifted, isFirst] = [0, 0, true, true];
      return '';
    }
    const value = VALUES.get(octet);
    if (value === undefined) {
      const start = isFirst ? '+' : unshifted();
      isShifted = false;
      return octet === MINUS ? start : start + String.fromCharCode(octet);
    }
    isFirst = false;
    bits = ((bits << 6) | value) & 0x3f_ffff;
    held += 6;
    if (held < 16) return '';
    held -= 16;
    return String.fromCharCode((bits >> held) & 0xffff);
  };
  return openSigns('utf-7', signOf, unshifted);
}
