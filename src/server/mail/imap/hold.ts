import { pause, type Clock } from '../../clock.ts';
import { MailError } from './mail-error.ts';
import type { MailControl } from './streams.ts';

/**
 * A run does not wait for a longer pause than this, in milliseconds: it fails with `busy`, and is tried again later.
 */
export const LONGEST_PAUSE_MS = 60_000;

/** The pause that a mail server has asked for. Until it is over, no connection of the account sends a new command. */
export class Hold {
  readonly #clock: Clock;
  readonly #account: string;
  /** When each account's pause ends, in the clock's elapsed milliseconds. */
  readonly #until: Map<string, number>;

  constructor(clock: Clock, until = new Map<string, number>(), account = '') {
    this.#clock = clock;
    this.#until = until;
    this.#account = account;
  }

  /** How much is left, in milliseconds. */
  get left(): number {
    const until = this.#until.get(this.#account);
    return until === undefined ? 0 : Math.max(0, until - this.#clock.elapsed());
  }

  note({ pause: asked }: MailError): void {
    if (asked === undefined || asked <= this.left) return;
    const now = this.#clock.elapsed();
    for (const [account, until] of this.#until) if (until <= now) this.#until.delete(account);
    this.#until.set(this.#account, now + asked);
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

/** The holds of all accounts that a process works on; those for the same name share their pause. */
export type Holds = (account: string) => Hold;

export function openHolds(clock: Clock): Holds {
  const until = new Map<string, number>();
  return (account) => new Hold(clock, until, account);
}

/** A control that asks for nothing during a pause of its account. */
export async function heldControl(
  hold: Hold,
  open: () => Promise<MailControl>,
  signal?: AbortSignal,
): Promise<MailControl> {
  const control = await hold.ask(open, signal);
  return {
    ...control,
    namespace: () => hold.ask(() => control.namespace(), signal),
    mailboxes: (options) => hold.ask(() => control.mailboxes(options), signal),
    remove: (path) => hold.ask(() => control.remove(path), signal),
  };
}
