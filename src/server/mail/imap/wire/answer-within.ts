import { MailError } from '../mail-error.ts';
import type { ImapConnection } from './imap-connection.ts';

/** How long an answer may take as a whole, even if its parts keep coming, in milliseconds. */
export const ANSWER_WITHIN_MS = 3 * 60_000;

/**
 * Ends the connection if the answer takes too long.
 * @throws {MailError} `slow` then, and what `ask` throws
 */
export async function answeredInTime<Answer>(connection: ImapConnection, ask: () => Promise<Answer>): Promise<Answer> {
  const tooLong = () => connection.end(new MailError('slow', 'The mail server took too long for an answer.'));
  const off = connection.clock.after(ANSWER_WITHIN_MS, tooLong);
  try {
    return await ask();
  } finally {
    off();
  }
}
