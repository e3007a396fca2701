import type { Labelled, PostalAddress } from '../../../contract/contact.ts';

/** Values that found no column; they go below the notes, under a line that says so. */
export class CsvSpill {
  readonly #lines: string[] = [];

  add(kind: string, values: readonly Labelled<string>[]): void {
    for (const { label, value } of values) this.#lines.push(`${kind}${label === '' ? '' : ` (${label})`}: ${value}`);
  }

  below(notes: string): string {
    if (this.#lines.length === 0) return notes;
    return [...(notes === '' ? [] : [notes, '']), 'Without a column of their own:', ...this.#lines].join('\n');
  }
}

/** An address in the order of an envelope. */
export function envelopeOf(address: PostalAddress): string {
  const { poBox, extended, street, city, region, postalCode, country } = address;
  const place = [city, region, postalCode].filter((part) => part !== '').join(' ');
  return [poBox, extended, street, place, country].filter((line) => line !== '').join('\n');
}

/** `--MM-DD`: no import takes it without reading a formula or a wrong year. */
export function hasYear(birthday: string): boolean {
  return /^\d{4}-/.test(birthday);
}
