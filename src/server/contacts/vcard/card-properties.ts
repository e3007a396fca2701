import type { Labelled } from '../contact.ts';
import { labelOfApple, labelOfTypes, type LabelKind } from './vcard-labels.ts';
import { paramOf, typesOf, unescapeText, type VcardLine } from './vcard-lines.ts';

/** The lines of a card by name, with the labels that Apple keeps in separate lines. */
export class CardProperties {
  readonly all: readonly VcardLine[];
  readonly #labels: ReadonlyMap<string, string>;
  readonly #byName: ReadonlyMap<string, readonly VcardLine[]>;

  constructor(all: readonly VcardLine[]) {
    this.all = all;
    this.#labels = new Map(
      all
        .filter(({ name, group }) => name === 'X-ABLABEL' && group !== '')
        .map(({ group, value }) => [group.toLowerCase(), labelOfApple(unescapeText(value))]),
    );
    // Sorted once: a card may hold thousands of lines of one name.
    this.#byName = new Map(
      [...Map.groupBy(all, ({ name }) => name)].map(([name, lines]) => [name, preferredFirst(lines)]),
    );
  }

  /** Lines of a property that hold something, preferred ones first (TYPE=pref, PREF=1). */
  of(name: string): readonly VcardLine[] {
    return this.#byName.get(name) ?? [];
  }

  text(name: string): string {
    const [line] = this.of(name);
    return line === undefined ? '' : unescapeText(line.value);
  }

  /** Without values of which nothing is left, such as `mailto:`: they would take the place of others. */
  labelled<Value extends string | object>(
    name: string,
    kind: LabelKind,
    valueOf: (line: VcardLine) => Value,
  ): Labelled<Value>[] {
    return this.of(name)
      .map((line) => ({ label: this.labelOf(line) ?? labelOfTypes(kind, typesOf(line)), value: valueOf(line) }))
      .filter(({ value }) => (typeof value === 'string' ? [value] : Object.values(value)).some((text) => text !== ''));
  }

  /** The label in a line of its own. */
  labelOf(line: VcardLine): string | undefined {
    return this.#labels.get(line.group.toLowerCase());
  }
}

export function isBlank(value: string): boolean {
  return /^[\s;,]*$/.test(value);
}

function preferredFirst(lines: readonly VcardLine[]): VcardLine[] {
  return lines
    .filter(({ value }) => !isBlank(value))
    .map((line) => ({ line, rank: rank(line) }))
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ line }) => line);
}

function rank(line: VcardLine): number {
  const preference = Number(paramOf(line, 'PREF') ?? Number.NaN);
  if (preference >= 1 && preference <= 100) return preference;
  return typesOf(line).includes('pref') ? 1 : 101;
}
