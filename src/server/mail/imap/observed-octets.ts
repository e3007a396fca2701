import type { Octets } from './streams.ts';

/**
 * Called for octets that somebody else reads: for each chunk, and at their end or for the error that broke them off.
 */
export type OctetsObserver = {
  readonly chunk: (octets: Uint8Array) => void;
  readonly whole?: () => void;
  readonly broken?: (error: unknown) => void;
};

/**
 * The same octets, with an observer. No generator, because that would cost more than everything else done with a chunk.
 */
export function observed(octets: Octets, observer: OctetsObserver): Octets {
  return new ObservedOctets(octets, observer);
}

type Step = IteratorResult<Uint8Array, unknown>;

class ObservedOctets implements AsyncIterable<Uint8Array>, AsyncIterator<Uint8Array> {
  readonly #octets: AsyncIterator<Uint8Array>;
  readonly #observer: OctetsObserver;

  constructor(octets: Octets, observer: OctetsObserver) {
    this.#octets = octets[Symbol.asyncIterator]();
    this.#observer = observer;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step> {
    return this.#octets.next().then(this.#pass, this.#fail);
  }

  async return(): Promise<Step> {
    await this.#octets.return?.();
    return { done: true, value: undefined };
  }

  readonly #pass = (step: Step): Step => {
    if (step.done === true) this.#observer.whole?.();
    else this.#observer.chunk(step.value);
    return step;
  };

  readonly #fail = (error: unknown): never => {
    this.#observer.broken?.(error);
    throw error;
  };
}
