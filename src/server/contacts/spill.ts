import { noteLine, type Item, type Part } from './parts.ts';

/** Values that found no place of their own; they go below the notes, in readable form. */
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

  /** Parts that stand in the notes now. */
  get moved(): ReadonlySet<Part> {
    return this.#moved;
  }

  /** What no text can hold, such as a sound, by its name. */
  get lost(): ReadonlySet<string> {
    return this.#lost;
  }

  /** The notes with the values below them. */
  below(notes: string, heading = ''): string {
    if (this.#lines.length === 0) return notes;
    const above = notes === '' ? [] : heading === '' ? [notes] : [notes, ''];
    return [...above, ...(heading === '' ? [] : [heading]), ...this.#lines].join('\n');
  }
}
