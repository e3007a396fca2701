/** As text or a quoted attribute of a page. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (sign) => `&#${sign.codePointAt(0)};`);
}
