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

/** A keyword that some server takes for no flag: iCloud one with a dot (imapsync 387). */
export function isOddKeyword(flag: string): boolean {
  return !/^[\\$]?[\w-]+$/.test(flag);
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
