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

/** A mailbox's path in commands: modified UTF-7 (RFC 3501 §5.1.3), quoted. */
export function mailboxName(path: string): string {
  const pieces: string[] = [];
  let plain = 0;
  for (let at = 0; at < path.length;) {
    const code = path.charCodeAt(at);
    if (code >= 32 && code <= 126 && code !== 38) {
      at++;
      continue;
    }
    pieces.push(path.slice(plain, at));
    if (code === 38) {
      pieces.push('&-');
      at++;
    } else {
      const from = at;
      while (at < path.length && !isPlain(path.charCodeAt(at))) at++;
      pieces.push(shifted(path.slice(from, at)));
    }
    plain = at;
  }
  pieces.push(path.slice(plain));
  return quoted(pieces.join(''));
}

function isPlain(code: number): boolean {
  return code >= 32 && code <= 126;
}

function shifted(text: string): string {
  const base64 = Buffer.from(text, 'utf16le').swap16().toString('base64');
  const end = base64.indexOf('=');
  return `&${(end < 0 ? base64 : base64.slice(0, end)).replaceAll('/', ',')}-`;
}
