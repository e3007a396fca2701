/** A list of numbers in one typed array after another, so that growing never copies. */
export class Column {
  static readonly #CHUNK = 65_536;
  readonly #chunks: (Uint8Array | Uint16Array | Uint32Array)[] = [];
  readonly #make: (length: number) => Uint8Array | Uint16Array | Uint32Array;
  length = 0;

  constructor(make: (length: number) => Uint8Array | Uint16Array | Uint32Array) {
    this.#make = make;
  }

  push(value: number): void {
    if (this.length % Column.#CHUNK === 0) this.#chunks.push(this.#make(Column.#CHUNK));
    const chunk = this.#chunks.at(-1);
    if (chunk !== undefined) chunk[this.length % Column.#CHUNK] = value;
    this.length += 1;
  }

  at(index: number): number {
    return this.#chunks[Math.floor(index / Column.#CHUNK)]?.[index % Column.#CHUNK] ?? 0;
  }
}
