/** A string as a server reads it: quoted. Only for text without CR, LF, NUL and octets above 127. */
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

/** A half of a surrogate pair without the other stands in a path for an octet that is no modified UTF-7, from here on. */
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
  // What would end the line of the command was no octet of a name.
  return octet >= 0 && octet < 256 && !LINE_ENDS.includes(octet) ? String.fromCharCode(octet) : undefined;
}

function shifted(text: string): string {
  const base64 = Buffer.from(text, 'utf16le').swap16().toString('base64');
  const end = base64.indexOf('=');
  return `&${(end < 0 ? base64 : base64.slice(0, end)).replaceAll('/', ',')}-`;
}

/**
 * The path of a mailbox, which is sent as the name that it was listed with. Some servers list names with a bare `&`, with
 * control characters or octets above 127, and know them by these only.
 * @param name one character an octet
 */
export function pathListedAs(name: string): string {
  if (name.toUpperCase() === 'INBOX') return 'INBOX';
  const path = name.replaceAll(/&([A-Za-z\d+,]*)-/g, (_, base64: string) => (base64 === '' ? '&' : unshifted(base64)));
  // What can't be quoted is sent in another form.
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

/** A path for people: octets that are no modified UTF-7 are UTF-8, or are not known. */
export function readablePath(path: string): string {
  return path.replaceAll(OCTETS, (run) =>
    Buffer.from(Array.from(run, (octet) => octet.charCodeAt(0) - ODD_OCTETS)).toString(),
  );
}
