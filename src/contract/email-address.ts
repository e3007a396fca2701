/** The longest address and local part that RFC 5321 §4.5.3.1 lets through, in characters. */
export const EMAIL_LENGTH = 254;
export const LOCAL_PART_LENGTH = 64;

const LOCAL_PART = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const LABEL = /^[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}-]{0,61}[\p{L}\p{N}\p{M}])?$/u;

/** A dotted host name: two labels or more, a last one that is no number, 253 characters at most. IDN is let through. */
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

/** The generic check of `portal.md` §5. Quoted local parts and address literals are not offered by any provider here. */
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

/** Who a letter comes from: `address` or `Name <address>`, where the name may stand in quotes and may be empty; `null` for what is neither. */
export function readSender(text: string): { readonly name: string; readonly address: string } | null {
  const open = text.indexOf('<');
  if (open < 0) return isEmail(text) ? { name: '', address: text } : null;
  const address = text.slice(open + 1, -1);
  const written = text.slice(0, open).trim();
  const name = /^"[^"]*"$/.test(written) ? written.slice(1, -1).trim() : written;
  return text.endsWith('>') && isEmail(address) && !/["\p{Cc}]/u.test(name) ? { name, address } : null;
}

/** Text in the one spelling by which many servers and resolvers know it: full width is plain, and what can't be seen is not there (UTS #46, RFC 8265). */
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

/** One mailbox has one name, whatever letters its domain was typed in. */
export function withFoldedDomain(email: string): string {
  return `${email.slice(0, email.lastIndexOf('@') + 1)}${domainOf(email)}`;
}

export function isAtDomain(email: string, domains: readonly string[]): boolean {
  return domains.includes(domainOf(email));
}
