/** A quoted string of IMAP. Only for text without CR, LF, NUL and octets above 127. */
export function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}

/** Whether a string can be quoted; otherwise it has to go as a literal. */
export function isQuotable(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 32 || code > 126) return false;
  }
  return true;
}

/** In a path, a lone low surrogate from here on stands for an octet that is not modified UTF-7. */
const ODD_OCTETS = 0xdc00;
const LINE_ENDS: readonly number[] = [0, 10, 13];
const WRITTEN_OTHERWISE =
  /&|(?<![\uD800-\uDBFF])[\uDC00-\uDCFF]|(?:[^ -~\uDC00-\uDCFF]|(?<=[\uD800-\uDBFF])[\uDC00-\uDCFF])+/g;
const OCTETS = /(?:(?<![\uD800-\uDBFF])[\uDC00-\uDCFF])+/g;

/** A mailbox's path in commands: modified UTF-7 (RFC 3501 §5.1.3), quoted. */
export function mailboxName(path: string): string {
  return quoted(path.replaceAll(WRITTEN_OTHERWISE, (run) => (run === '&' ? '&-' : (oddOctetIn(run) ?? shifted(run)))));
}

function oddOctetIn(run: string): string | undefined {
  const octet = run.length === 1 ? run.charCodeAt(0) - ODD_OCTETS : -1;
  // A name had no octet that would end the command's line.
  return octet >= 0 && octet < 256 && !LINE_ENDS.includes(octet) ? String.fromCharCode(octet) : undefined;
}

function shifted(text: string): string {
  const base64 = Buffer.from(text, 'utf16le').swap16().toString('base64');
  const end = base64.indexOf('=');
  return `&${(end < 0 ? base64 : base64.slice(0, end)).replaceAll('/', ',')}-`;
}

/**
 * The path of a listed mailbox, such that exactly the listed name is sent for it. Some servers list names with a bare
 * `&`, control characters or octets above 127, and know them only by these.
 * @param name one character an octet
 */
export function pathListedAs(name: string): string {
  if (name.toUpperCase() === 'INBOX') return 'INBOX';
  const path = name.replaceAll(/&([A-Za-z\d+,]*)-/g, (_, base64: string) => (base64 === '' ? '&' : unshifted(base64)));
  // A name that can't be quoted can't be sent as it was listed.
  if (mailboxName(path) === quoted(name) || /[\0\r\n]/.test(name)) return path;
  return name.replaceAll(/[^ -%'-~]/g, (octet) => String.fromCharCode(ODD_OCTETS + octet.charCodeAt(0)));
}

function unshifted(base64: string): string {
  const octets = Buffer.from(base64.replaceAll(',', '/'), 'base64');
  return octets
    .subarray(0, octets.length - (octets.length % 2))
    .swap16()
    .toString('utf16le');
}

/**
 * The path for display: octets that are not modified UTF-7 are decoded as UTF-8, with replacement characters if they
 * are not.
 */
export function readablePath(path: string): string {
  return path.replaceAll(OCTETS, (run) =>
    Buffer.from(Array.from(run, (octet) => octet.charCodeAt(0) - ODD_OCTETS)).toString(),
  );
}
