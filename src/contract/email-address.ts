/** The longest address and local part that RFC 5321 §4.5.3.1 allows, in characters. */
const EMAIL_LENGTH = 254;
const LOCAL_PART_LENGTH = 64;

const LOCAL_PART = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const LABEL = /^[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}-]{0,61}[\p{L}\p{N}\p{M}])?$/u;

/** A dotted host name: at least two labels, the last one not a number, at most 253 characters. IDNs are allowed. */
export function isDomain(text: string): boolean {
  const labels = text.split('.');
  const last = labels.at(-1) ?? '';
  return (
    text.length <= 253 &&
    labels.length >= 2 &&
    labels.every((label) => LABEL.test(label)) &&
    last.length >= 2 &&
    !/^\d+$/.test(last)
  );
}

/** The generic check of `portal.md` §5. No provider here offers quoted local parts or address literals. */
export function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, at);
  return (
    at > 0 &&
    text.length <= EMAIL_LENGTH &&
    local.length <= LOCAL_PART_LENGTH &&
    LOCAL_PART.test(local) &&
    isDomain(text.slice(at + 1))
  );
}

/** Parses a sender: `address` or `Name <address>`, where the name may be quoted or empty; `null` for anything else. */
export function readSender(text: string): { readonly name: string; readonly address: string } | null {
  const open = text.indexOf('<');
  if (open < 0) return isEmail(text) ? { name: '', address: text } : null;
  const address = text.slice(open + 1, -1);
  const written = text.slice(0, open).trim();
  const name = /^"[^"]*"$/.test(written) ? written.slice(1, -1).trim() : written;
  return text.endsWith('>') && isEmail(address) && !/["\p{Cc}]/u.test(name) ? { name, address } : null;
}

/** Folds text as many servers and resolvers do: NFKC, without invisible characters, lowercase (UTS #46, RFC 8265). */
export function folded(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase();
}

/** The part after the last `@`, folded; empty when there is none. */
export function domainOf(email: string): string {
  const at = email.lastIndexOf('@');
  return at < 0 ? '' : folded(email.slice(at + 1));
}

/** The address with its domain folded, so that one mailbox has one name however its domain was typed. */
export function withFoldedDomain(email: string): string {
  return `${email.slice(0, email.lastIndexOf('@') + 1)}${domainOf(email)}`;
}

export function isAtDomain(email: string, domains: readonly string[]): boolean {
  return domains.includes(domainOf(email));
}

/** Whether a domain is one of these, each in letters or as DNS has it (`xn--…`). */
export function isAmongDomains(domain: string, domains: readonly string[]): boolean {
  return domains.some((each) => inAscii(each) === inAscii(domain));
}

function inAscii(domain: string): string {
  try {
    return isDomain(domain) ? new URL(`http://${domain}`).hostname : domain;
  } catch {
    return domain;
  }
}

/** At Gmail `a.nn@` and `ann@` are one mailbox, under both of its domains. */
const WITHOUT_DOTS: readonly string[] = ['gmail.com', 'googlemail.com'];

/**
 * The address without its detail (RFC 5233): what is sent to `ann+news@` arrives at `ann@`. Anything else, such as a phone
 * number, stays as it is.
 */
export function withoutDetail(contact: string): string {
  const at = contact.lastIndexOf('@');
  const detail = contact.indexOf('+');
  const local = contact.slice(0, detail > 0 && detail < at ? detail : Math.max(at, 0));
  const isDotless = at > 0 && WITHOUT_DOTS.includes(contact.slice(at + 1));
  return isDotless ? `${local.replaceAll('.', '')}@${WITHOUT_DOTS[0]}` : `${local}${contact.slice(Math.max(at, 0))}`;
}
