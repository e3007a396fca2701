/** As text or a quoted attribute of a page. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (sign) => `&#${sign.codePointAt(0)};`);
}

/** An address or a transfer ID as text of a page. Where a line is too short for it, it breaks after its "@", or in halves. */
export function breakableHtml(text: string): string {
  return escapeHtml(text)
    .replaceAll('@', '@<wbr>')
    .replace(/^[\da-f]{16}(?=[\da-f]{16}$)/, '$&<wbr>');
}
