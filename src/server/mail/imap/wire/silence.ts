import type { Clock } from '../../../clock.ts';

/** A timer that comes so much too late, in milliseconds, tells that this process stood still. */
const STOOD_STILL = 1000;
/** Who owes something is given up that brings less than so many octets of it in so many milliseconds, however steadily. */
const LEAST_BROUGHT = 64 * 1024;
const BROUGHT_WITHIN = 30 * 60_000;

type SilenceOptions = {
  readonly clock: Clock;
  /** Milliseconds of silence after which a side that owes something is given up. */
  readonly limit: number;
  /** Whom the connection waits for now. */
  readonly waitsFor: () => 'nobody' | 'us' | 'them';
  readonly tooLong: () => void;
};

/** How long the other side of a connection has been silent while it owed something. */
export class Silence {
  readonly #options: SilenceOptions;
  #heard: number;
  /** Since when so many octets have been brought. */
  #since: number;
  #brought = 0;
  #stopped = false;
  #disarm: (() => void) | undefined;

  constructor(options: SilenceOptions) {
    this.#options = options;
    this.#heard = options.clock.elapsed();
    this.#since = this.#heard;
  }

  /** Something is done, or the other side can begin only now. */
  heard(): void {
    this.#heard = this.#options.clock.elapsed();
    this.#since = this.#heard;
    this.#brought = 0;
  }

  /** So many octets of what is owed have come. */
  brought(octets: number): void {
    this.#heard = this.#options.clock.elapsed();
    this.#brought += octets;
    if (this.#brought >= LEAST_BROUGHT) this.heard();
  }

  get #due(): number {
    return Math.min(this.#heard + this.#options.limit, this.#since + BROUGHT_WITHIN);
  }

  /** Goes on until nobody is waited for. */
  watch(): void {
    const { clock, waitsFor, tooLong } = this.#options;
    if (this.#disarm !== undefined || this.#stopped) return;
    const wait = Math.max(1, this.#due - clock.elapsed());
    const due = clock.elapsed() + wait;
    this.#disarm = clock.after(wait, () => {
      this.#disarm = undefined;
      // What came meanwhile has not been read yet, such as the OK of an append.
      if (clock.elapsed() - due > STOOD_STILL) this.heard();
      const awaited = waitsFor();
      if (awaited === 'nobody') return;
      if (awaited === 'us') this.heard();
      else if (clock.elapsed() >= this.#due) {
        tooLong();
        return;
      }
      this.watch();
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#disarm?.();
  }
}
