/** A file's extension by its type, for parts without a name. */
export function endingOf(type: string): string {
  const known: Record<string, string> = {
    'text/html': 'htm',
    'text/calendar': 'ics',
    'text/csv': 'csv',
    'text/vcard': 'vcf',
    'text/x-vcard': 'vcf',
    'message/rfc822': 'eml',
    'image/jpeg': 'jpg',
    'application/pdf': 'pdf',
    'application/ms-tnef': 'dat',
    'application/pkcs7-mime': 'p7m',
    'application/x-pkcs7-mime': 'p7m',
  };
  const other = /^(?:text|message)\//.test(type) ? 'txt' : 'bin';
  return known[type] ?? /^(?:image|audio|video)\/([a-z0-9]{1,8})$/.exec(type)?.[1] ?? other;
}

const plainName = (part: string) => part.replaceAll(/[^A-Za-z0-9_-]/g, '_');

/** Eight characters and three, as old programs require. */
export function shortName(name: string): string {
  const dot = name.lastIndexOf('.');
  const base = plainName(dot > 0 ? name.slice(0, dot) : name);
  const ending = dot > 0 ? plainName(name.slice(dot + 1)) : '';
  const short = base.length <= 8 ? base : `${base.slice(0, 6)}~1`;
  return ending === '' ? short : `${short}.${ending.slice(0, 3)}`;
}
