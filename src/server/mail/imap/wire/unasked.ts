import { MailError } from '../mail-error.ts';
import type { Part } from './response-parser.ts';

/** Lines between two answers: a server that tells a new count with every append stays below. */
const LINES_AT_MOST = 100_000;
/** The same in octets: many times what so many counts take. */
const OCTETS_AT_MOST = 16 * 1024 * 1024;
/** Until somebody is signed in: the server may be anybody's. */
const OCTETS_BEFORE_SIGN_IN = 256 * 1024;

/** What a server says that nobody asked for, since its last answer. */
export class Unasked {
  #lines = 0;
  #octets = 0;
  #octetsAtMost = OCTETS_BEFORE_SIGN_IN;

  signedIn(): void {
    this.#octetsAtMost = OCTETS_AT_MOST;
  }

  /** @throws {MailError} when it is without end */
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
