import type { Clock } from '../../../clock.ts';

/** A timer that fires this late, in milliseconds, shows that this process stood still. */
const STOOD_STILL = 1000;
/**
 * A side that owes something is given up if it brings fewer octets than this in so many milliseconds, however steadily.
 */
const LEAST_BROUGHT = 64 * 1024;
const BROUGHT_WITHIN = 30 * 60_000;

type SilenceOptions = {
  readonly clock: Clock;
  /** Milliseconds of silence after which a side that owes something is given up. */
  readonly limit: number;
  /** Who has to act now: nobody, this side, or the other side. */
  readonly waitsFor: () => 'nobody' | 'us' | 'them';
  readonly tooLong: () => void;
};

/** Watches how long the other side of a connection is silent while it owes something. */
export class Silence {
  readonly #options: SilenceOptions;
  #heard: number;
  /** When the counting of `#brought` began. */
  #since: number;
  #brought = 0;
  #stopped = false;
  #disarm: (() => void) | undefined;

  constructor(options: SilenceOptions) {
    this.#options = options;
    this.#heard = options.clock.elapsed();
    this.#since = this.#heard;
  }

  /** Something is done, or the other side can begin only now: the waiting starts anew. */
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

  /** Watches until nobody is waited for. */
  watch(): void {
    const { clock, waitsFor, tooLong } = this.#options;
    if (this.#disarm !== undefined || this.#stopped) return;
    const wait = Math.max(1, this.#due - clock.elapsed());
    const due = clock.elapsed() + wait;
    this.#disarm = clock.after(wait, () => {
      this.#disarm = undefined;
      // What arrived meanwhile, such as the OK of an append, has not been read yet.
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
