/** Which flags a mailbox keeps: `\*` allows new keywords, system flags must be listed (RFC 9051 §7.1, PERMANENTFLAGS). */
export function keeping(permanent: readonly string[] | undefined): (flags: readonly string[]) => string[] {
  const listed = new Set(permanent?.map((flag) => flag.toLowerCase()));
  return (flags) =>
    flags.filter((flag) => {
      const name = flag.toLowerCase();
      if (name === '\\recent' || !isFlag(flag)) return false;
      return permanent === undefined || listed.has(name) || (listed.has('\\*') && !name.startsWith('\\'));
    });
}

/** What Dovecot takes of a keyword, in octets, unless it is told otherwise. */
const KEYWORD_LENGTH = 50;
const STANDARD = new Set(['\\answered', '\\deleted', '\\draft', '\\flagged', '\\seen']);

/**
 * A flag that some server takes for none: iCloud a keyword with a dot (imapsync 387), Dovecot a long one, and any other
 * system flag than those of RFC 9051 §2.3.2.
 */
export function isOddKeyword(flag: string): boolean {
  if (flag.startsWith('\\')) return !STANDARD.has(flag.toLowerCase());
  return flag.length > KEYWORD_LENGTH || !/^\$?[\w-]+$/.test(flag);
}

/**
 * Without those flags that some server takes for none; where there are none such without keywords: there may be too
 * many (Cyrus).
 */
export function unlabelled(flags: readonly string[]): readonly string[] {
  const plain = flags.filter((flag) => !isOddKeyword(flag));
  return plain.length < flags.length ? plain : flags.filter((flag) => flag.startsWith('\\'));
}

/** A keyword or system flag of RFC 9051 §9; what else servers call a flag can't be sent in a command. */
export function isFlag(flag: string): boolean {
  const from = flag.startsWith('\\') ? 1 : 0;
  for (let at = from; at < flag.length; at++) {
    const code = flag.charCodeAt(at);
    if (code <= 32 || code > 126 || '(){%*"\\]'.includes(flag[at] ?? '')) return false;
  }
  return flag.length > from;
}
