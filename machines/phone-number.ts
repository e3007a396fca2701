/**
 * Reads a US phone number in any usual writing (`650 555 0123`, `(650) 555-0123`, `+1 650.555.0123`) and answers it as
 * `+1` and ten digits, or `null`. Area code and exchange follow the North American Numbering Plan; whether the number
 * is in use in the US is for the server to say.
 */
export function readUsPhone(text: string): string | null {
  const match = /^(?:\+?1[\s.\p{Dash}]?)?(?:\((\d{3})\)|(\d{3}))[\s.\p{Dash}]?(\d{3})[\s.\p{Dash}]?(\d{4})$/u.exec(
    text.trim(),
  );
  if (match === null) return null;
  const area = match[1] ?? match[2] ?? '';
  const [exchange = '', line = ''] = [match[3], match[4]];
  return inPlan(area) && inPlan(exchange) ? `+1${area}${exchange}${line}` : null;
}

function inPlan(part: string): boolean {
  return /^[2-9]/.test(part) && !/^.11$/.test(part);
}
