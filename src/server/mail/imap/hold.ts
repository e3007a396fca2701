import { pause, type Clock } from '../../clock.ts';
import { MailError } from './mail-error.ts';
import type { MailControl } from './streams.ts';

/**
 * A run does not wait for a longer pause than this, in milliseconds: it fails with `busy`, and is tried again later.
 */
export const LONGEST_PAUSE_MS = 60_000;

/** So many sign-ins of one transfer to an account may come at once; after them there is one in so many milliseconds. */
const SIGN_INS_AT_ONCE = 40;
const SIGN_IN_EVERY_MS = 3000;

/**
 * What all connections of an account keep to. Until the pause that its mail server has asked for is over, none of them
 * sends a new command. Nor do those of one transfer sign in over and over, whatever goes wrong: some providers lock
 * accounts for that.
 */
export class Hold {
  readonly #clock: Clock;
  readonly #account: string;
  readonly #transfer: string;
  readonly #known: Known;

  constructor(clock: Clock, known = knownOfNone(), account = '', transfer = '') {
    this.#clock = clock;
    this.#known = known;
    this.#account = account;
    this.#transfer = `${transfer} ${account}`;
  }

  /** How much is left, in milliseconds. */
  get left(): number {
    const until = this.#known.pauses.get(this.#account);
    return until === undefined ? 0 : Math.max(0, until - this.#clock.elapsed());
  }

  note({ pause: asked }: MailError): void {
    if (asked === undefined || asked <= this.left) return;
    const now = this.#clock.elapsed();
    forgetBefore(now, this.#known.pauses);
    this.#known.pauses.set(this.#account, now + asked);
  }

  /**
   * Waits for the turn of another sign-in, and for the end of the pause; ends early when the signal aborts.
   * @throws {MailError} `busy` if the pause is longer than {@link LONGEST_PAUSE_MS}
   */
  async beforeSignIn(signal?: AbortSignal): Promise<void> {
    const now = this.#clock.elapsed();
    const { signIns, signInEvery } = this.#known;
    const taken = Math.max(now, signIns.get(this.#transfer) ?? 0);
    forgetBefore(now, signIns);
    signIns.set(this.#transfer, taken + signInEvery);
    const turn = taken - now - (SIGN_INS_AT_ONCE - 1) * signInEvery;
    if (turn > 0) await pause(this.#clock, turn, signal);
    // Nobody takes its turn.
    if (signal?.aborted === true) signIns.set(this.#transfer, (signIns.get(this.#transfer) ?? 0) - signInEvery);
    await this.over(signal);
  }

  /**
   * Waits until the pause is over, or the signal aborts.
   * @throws {MailError} `busy` if that takes longer than {@link LONGEST_PAUSE_MS}
   */
  async over(signal?: AbortSignal): Promise<void> {
    for (;;) {
      const { left } = this;
      if (left === 0 || signal?.aborted === true) return;
      if (left > LONGEST_PAUSE_MS)
        throw new MailError('busy', 'The mail server has asked for a pause.', { pause: left });
      await pause(this.#clock, left, signal);
    }
  }

  /**
   * Waits for the end of the pause, asks, and notes the pause that an error asks for.
   * @throws {MailError} `lost` if the signal aborts before
   */
  async ask<Answer>(ask: () => Promise<Answer>, signal?: AbortSignal): Promise<Answer> {
    await this.over(signal);
    if (this.left > 0) throw new MailError('lost', 'The work was asked to stop.');
    try {
      return await ask();
    } catch (error) {
      if (error instanceof MailError) this.note(error);
      throw error;
    }
  }
}

/** Times in the clock's elapsed milliseconds. */
type Known = {
  /** By account, when its pause ends. */
  readonly pauses: Map<string, number>;
  /** By transfer and account, when all of its sign-ins would have come, had there been one in each `signInEvery`. */
  readonly signIns: Map<string, number>;
  /** In milliseconds. */
  readonly signInEvery: number;
};

function knownOfNone(signInEvery = SIGN_IN_EVERY_MS): Known {
  return { pauses: new Map(), signIns: new Map(), signInEvery };
}

function forgetBefore(now: number, times: Map<string, number>): void {
  for (const [account, time] of times) if (time <= now) times.delete(account);
}

/** The holds of all accounts that a process works on, for each of its transfers. */
export type Holds = (account: string, transfer: string) => Hold;

/** @param signInEvery in which time one more sign-in of a transfer may come, after many at once, in milliseconds */
export function openHolds(clock: Clock, signInEvery?: number): Holds {
  const known = knownOfNone(signInEvery);
  return (account, transfer) => new Hold(clock, known, account, transfer);
}

/** A control that asks for nothing during a pause of its account. */
export async function heldControl(
  hold: Hold,
  open: () => Promise<MailControl>,
  signal?: AbortSignal,
): Promise<MailControl> {
  await hold.beforeSignIn(signal);
  const control = await hold.ask(open, signal);
  return {
    ...control,
    namespace: () => hold.ask(() => control.namespace(), signal),
    mailboxes: (options) => hold.ask(() => control.mailboxes(options), signal),
    remove: (path) => hold.ask(() => control.remove(path), signal),
  };
}
