import { stringify } from 'csv-stringify/sync';

/** Without it, Excel and Outlook take UTF-8 for Windows-1252. */
export const BYTE_ORDER_MARK = '\uFEFF';
/** An address that begins with a sign; without brackets and blanks, there is nothing to run. */
const EMAIL_ADDRESS = /^[+＋\-－][\w.+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,63}$/i;
const LONGEST_PLAIN = 254;
/** As ASVS 1.2.10 lists them, and their full-width equivalents, which Excel treats alike. */
const FORMULA = /^(?:[\t\r]|\s*[=+\-@＝＋－＠])/;

/** A row of a CSV file (RFC 4180), with its end. */
export function csvRow(cells: readonly string[]): string {
  return csvRows([cells]);
}

export function csvRows(rows: readonly (readonly string[])[]): string {
  return stringify(
    rows.map((cells) => [...cells]),
    // By itself, the library leaves a CR or an LF alone, which begins a new row, out of quotes.
    { record_delimiter: '\r\n', quoted_match: /[\r\n]|^\s|\s$/ },
  );
}

/** An apostrophe turns a cell that a spreadsheet would run as a formula into text; phone numbers stay as they are. */
export function harmless(cell: string): string {
  // oxlint-disable-next-line no-control-regex
  const clean = cell.replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/g, '');
  return FORMULA.test(clean) && !isPlain(clean) ? `'${clean}` : clean;
}

function isPlain(cell: string): boolean {
  return cell.length <= LONGEST_PLAIN && (isPhoneNumber(cell) || EMAIL_ADDRESS.test(cell));
}

const FEWEST_PLACES = 7;
/** Digits, blanks and dashes of every kind, brackets, pauses (`,` `;`), and letters as on a dial. */
const DIALLED = /^[+＋]\s?\(?[0-9][0-9A-Za-z\s()./*#,;\u00AD\u2010-\u2015-]*$/;
/** An extension or a pause, or a word such as `FLOWERS`, but not the name of a cell, such as `A1`. */
const DIALLED_WORD = /^(?:(?:x|ext|p|w)[0-9]{0,12}|[A-Za-z]{3,12})$/i;

/** A number to dial: it contains no name, and so nothing to run. */
function isPhoneNumber(cell: string): boolean {
  const words = cell.match(/[A-Za-z]+[0-9]*/g) ?? [];
  const calls = /[A-Za-z]\s?\(/.test(cell);
  const places = cell.replaceAll(/[^0-9A-Za-z]/g, '').length;
  const isOneLine = !/[\r\n]/.test(cell);
  return (
    isOneLine &&
    DIALLED.test(cell) &&
    !calls &&
    places >= FEWEST_PLACES &&
    words.every((word) => DIALLED_WORD.test(word))
  );
}
