/**
 * Which flags a mailbox keeps: `\*` allows new keywords, system flags must be listed (RFC 9051 §7.1, PERMANENTFLAGS).
 */
export function keeping(permanent: readonly string[] | undefined): (flags: readonly string[]) => string[] {
  const listed = new Set(permanent?.map((flag) => flag.toLowerCase()));
  return (flags) =>
    flags.filter((flag) => {
      const name = flag.toLowerCase();
      if (name === '\\recent' || !isFlag(flag)) return false;
      return permanent === undefined || listed.has(name) || (listed.has('\\*') && !name.startsWith('\\'));
    });
}

/** The length of a keyword that Dovecot accepts by default, in octets. */
const KEYWORD_LENGTH = 50;
const STANDARD = new Set(['\\answered', '\\deleted', '\\draft', '\\flagged', '\\seen']);

/**
 * Whether some server rejects the flag: iCloud keywords with a dot (imapsync 387), Dovecot long ones; also any system
 * flag other than those of RFC 9051 §2.3.2.
 */
export function isOddKeyword(flag: string): boolean {
  if (flag.startsWith('\\')) return !STANDARD.has(flag.toLowerCase());
  return flag.length > KEYWORD_LENGTH || !/^\$?[\w-]+$/.test(flag);
}

/**
 * The flags without those that some server rejects. If there are none of these, without any keywords: they may be too
 * many (Cyrus).
 */
export function unlabelled(flags: readonly string[]): readonly string[] {
  const plain = flags.filter((flag) => !isOddKeyword(flag));
  return plain.length < flags.length ? plain : flags.filter((flag) => flag.startsWith('\\'));
}

/**
 * Whether it is a keyword or system flag by RFC 9051 §9. What else servers list as a flag can't be sent in a command.
 */
export function isFlag(flag: string): boolean {
  const from = flag.startsWith('\\') ? 1 : 0;
  for (let at = from; at < flag.length; at++) {
    const code = flag.charCodeAt(at);
    if (code <= 32 || code > 126 || '(){%*"\\]'.includes(flag[at] ?? '')) return false;
  }
  return flag.length > from;
}
