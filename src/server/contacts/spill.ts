import { noteLine, type Item, type Part } from './parts.ts';

/** Values without a field of their own, which are appended to the notes in readable form. */
export class Spill {
  readonly #lines: string[] = [];
  readonly #moved = new Set<Part>();
  readonly #lost = new Set<string>();

  add(items: readonly Item[]): void {
    for (const item of items) {
      if (item.value === '') this.#lost.add(item.label === '' ? item.part : item.label);
      else {
        this.#lines.push(noteLine(item));
        this.#moved.add(item.part);
      }
    }
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Parts that were moved to the notes. */
  get moved(): ReadonlySet<Part> {
    return this.#moved;
  }

  /** Names of parts that can't be written as text, such as a sound. */
  get lost(): ReadonlySet<string> {
    return this.#lost;
  }

  /** The notes, followed by these values. */
  below(notes: string, heading = ''): string {
    if (this.#lines.length === 0) return notes;
    const above = notes === '' ? [] : heading === '' ? [notes] : [notes, ''];
    return [...above, ...(heading === '' ? [] : [heading]), ...this.#lines].join('\n');
  }
}
