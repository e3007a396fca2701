import { MailError } from './mail-error.ts';
import type { MailControl } from './streams.ts';
import { pause, type Clock } from './wire.ts';

/** A server that asks for a longer pause is left alone by the whole run, in milliseconds. */
export const LONGEST_PAUSE_MS = 60_000;

/** The pause that a mail server has asked for: before it is over no connection of the account asks for anything new. */
export class Hold {
  readonly #clock: Clock;
  #until = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** In milliseconds. */
  get left(): number {
    return Math.max(0, this.#until - this.#clock.elapsed());
  }

  note(error: MailError): void {
    if (error.pause !== undefined) this.#until = Math.max(this.#until, this.#clock.elapsed() + error.pause);
  }

  /**
   * Waits until it is over, or the signal aborts.
   * @throws {MailError} `busy` where that takes longer than {@link LONGEST_PAUSE_MS}
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

  /** Asks when it is over, and notes whether the answer asks for another one. */
  async ask<Answer>(ask: () => Promise<Answer>, signal?: AbortSignal): Promise<Answer> {
    await this.over(signal);
    try {
      return await ask();
    } catch (error) {
      if (error instanceof MailError) this.note(error);
      throw error;
    }
  }
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
    mailboxes: (options) => hold.ask(() => control.mailboxes(options), signal),
    remove: (path) => hold.ask(() => control.remove(path), signal),
  };
}
