import { MailError } from '../mail-error.ts';
import type { Part } from './response-parser.ts';

/** How many lines may come between two answers. A server that sends a new count with every append stays below. */
const LINES_AT_MOST = 100_000;
/** The same in octets: many times what so many counts take. */
const OCTETS_AT_MOST = 16 * 1024 * 1024;
/** The limit before the sign-in, because the server may be anybody's. */
const OCTETS_BEFORE_SIGN_IN = 256 * 1024;

/** Limits the unsolicited responses since the server's last answer. */
export class Unasked {
  #lines = 0;
  #octets = 0;
  #octetsAtMost = OCTETS_BEFORE_SIGN_IN;

  signedIn(): void {
    this.#octetsAtMost = OCTETS_AT_MOST;
  }

  /** @throws {MailError} if there are too many */
  count(parts: readonly Part[]): void {
    this.#lines += 1;
    for (const part of parts) this.#octets += part?.length ?? 0;
    if (this.#lines > LINES_AT_MOST || this.#octets > this.#octetsAtMost)
      throw new MailError('lost', 'The mail server says things without end.');
  }

  forget(): void {
    this.#lines = 0;
    this.#octets = 0;
  }
}
