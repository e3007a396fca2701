import { isEmail } from '../../contract/email-address.ts';

const MAILTO = /^mailto:/i;

/**
 * The address in what was typed or pasted: of `Name <address>`, as mail programs copy it, what is in brackets, and the
 * signs of East Asian keyboards as addresses have them. Of a text that came at once also without `mailto:`, the comma of
 * a list, the full stop of a sentence and blanks beside the "@", if an address is left. (Letter by letter, a full stop
 * may be followed by more.) Any other text as it is.
 */
export function addressIn(text: string, cameAtOnce: boolean): string {
  const plain = text.replaceAll('\uFF20', '@').replaceAll(/[\uFF0E\u3002\uFF61]/g, '.');
  if (cameAtOnce) {
    const ended = bracketed(plain.trim().replace(/[,;.]$/, '')).trim();
    const alone = (MAILTO.test(ended) ? linkedIn(ended) : ended)
      .split('@')
      .map((part) => part.trim())
      .join('@');
    if (isEmail(alone)) return alone;
  }
  return bracketed(plain);
}

function bracketed(text: string): string {
  return /^[^<]*<([^<>]+)>\s*$/.exec(text)?.[1] ?? text;
}

/** The first part of a link, which may have any of its signs encoded (RFC 6068 §2); a malformed one as it is. */
function linkedIn(link: string): string {
  const [address = ''] = link.replace(MAILTO, '').split('?');
  try {
    return decodeURIComponent(address);
  } catch {
    return link;
  }
}
