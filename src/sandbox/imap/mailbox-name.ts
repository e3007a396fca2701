/** Encodes a mailbox name in modified UTF-7 (RFC 3501 §5.1.3). */
export function encodeName(name: string): string {
  return name.replace(/&|[^\x20-\x7e]+/g, (run) => {
    if (run === '&') return '&-';
    const bytes = Buffer.from(run, 'utf16le').swap16();
    return `&${bytes.toString('base64').replaceAll('=', '').replaceAll('/', ',')}-`;
  });
}

/** @throws {RangeError} when the name is not well formed. */
export function decodeName(wire: string): string {
  if (/[^\x20-\x7e]/.test(wire)) throw new RangeError('A mailbox name must be modified UTF-7.');
  const name = wire.replace(/&([A-Za-z0-9+,]*)(-?)/g, (_, run: string, end: string) => {
    if (end === '') throw new RangeError('A shift in a mailbox name does not end.');
    if (run === '') return '&';
    const bytes = Buffer.from(run.replaceAll(',', '/'), 'base64');
    if (bytes.length === 0 || bytes.length % 2 !== 0) throw new RangeError('A shift in a mailbox name is cut off.');
    return bytes.swap16().toString('utf16le');
  });
  return /^inbox$/i.test(name) ? 'INBOX' : name;
}
