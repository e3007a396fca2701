import type { Planned } from './ledger.ts';

// A mailbox may hold half a million messages: as objects and in a Set or Map they take five times the memory. What
// comes by rising UID, as nearly everything does, goes into typed arrays; the rest is held as usual.

/** Numbers that rise from one to the next. */
class Rising {
  #numbers = new Float64Array(64);
  length = 0;

  get last(): number {
    return this.length === 0 ? -Infinity : this.at(this.length - 1);
  }

  at(index: number): number {
    return this.#numbers[index] ?? Number.NaN;
  }

  push(number: number): void {
    this.#numbers = roomFor(this.#numbers, this.length);
    this.#numbers[this.length] = number;
    this.length += 1;
  }

  /** @returns the index of a number, or -1 */
  indexOf(number: number): number {
    let [from, to] = [0, this.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (this.at(middle) < number) from = middle + 1;
      else to = middle;
    }
    return from < this.length && this.at(from) === number ? from : -1;
  }
}

function roomFor(numbers: Float64Array<ArrayBuffer>, index: number): Float64Array<ArrayBuffer> {
  if (index < numbers.length) return numbers;
  const larger = new Float64Array(numbers.length * 2);
  larger.set(numbers);
  return larger;
}

/** UIDs, each once. */
export class UidSet {
  readonly #rising = new Rising();
  readonly #others = new Set<number>();

  get size(): number {
    return this.#rising.length + this.#others.size;
  }

  has(uid: number): boolean {
    return this.#rising.indexOf(uid) >= 0 || this.#others.has(uid);
  }

  add(uid: number): void {
    if (uid > this.#rising.last) this.#rising.push(uid);
    else if (!this.has(uid)) this.#others.add(uid);
  }
}

/** Messages of a mailbox, each UID once; given by rising UID. */
export class MessageList implements Iterable<Planned> {
  readonly #uids = new Rising();
  #sizes = new Float64Array(64);
  /** `NaN` where there is none. */
  #dates = new Float64Array(64);
  readonly #others = new Map<number, Planned>();
  #lowest = Infinity;
  #highest = 0;

  get length(): number {
    return this.#uids.length + this.#others.size;
  }

  /** The highest UID; 0 when there is none. */
  get highest(): number {
    return this.#highest;
  }

  /** The lowest UID; infinite when there is none. */
  get lowest(): number {
    return this.#lowest;
  }

  has(uid: number): boolean {
    return this.#uids.indexOf(uid) >= 0 || this.#others.has(uid);
  }

  get(uid: number): Planned | undefined {
    const index = this.#uids.indexOf(uid);
    return index < 0 ? this.#others.get(uid) : this.#at(index);
  }

  /** Adds a message, or replaces the one with its UID. */
  set(message: Planned): void {
    const { uid } = message;
    this.#lowest = Math.min(this.#lowest, uid);
    this.#highest = Math.max(this.#highest, uid);
    let index = this.#uids.indexOf(uid);
    if (index < 0 && uid > this.#uids.last) {
      index = this.#uids.length;
      this.#uids.push(uid);
      this.#sizes = roomFor(this.#sizes, index);
      this.#dates = roomFor(this.#dates, index);
    }
    if (index < 0) this.#others.set(uid, message);
    else {
      this.#sizes[index] = message.size;
      this.#dates[index] = message.date ?? Number.NaN;
    }
  }

  *[Symbol.iterator](): Generator<Planned> {
    const others = [...this.#others.values()].toSorted((a, b) => a.uid - b.uid);
    let next = 0;
    for (let index = 0; index < this.#uids.length; index += 1) {
      const message = this.#at(index);
      for (let other = others[next]; other !== undefined && other.uid < message.uid; other = others[next]) {
        yield other;
        next += 1;
      }
      yield message;
    }
    yield* others.slice(next);
  }

  filter(isWanted: (message: Planned) => boolean): Planned[] {
    const wanted: Planned[] = [];
    for (const message of this) if (isWanted(message)) wanted.push(message);
    return wanted;
  }

  #at(index: number): Planned {
    const date = this.#dates[index] ?? Number.NaN;
    return { uid: this.#uids.at(index), size: this.#sizes[index] ?? 0, date: Number.isNaN(date) ? null : date };
  }
}
