import pino from 'pino';
import type { Settings } from '../contract/settings.ts';
import { openLogOutput } from './log-output.ts';

const STANDARD_OUTPUT = 1;

/**
 * Structured logs: one JSON object a line on standard output. Log named fields, never a request, an error's response,
 * an address or a whole object from outside: nothing is taken out afterwards.
 */
export type Log = pino.Logger;

export function openLog(level: Settings['logLevel'], destination?: pino.DestinationStream): Log {
  const log: Log = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: describeError } },
    destination ??
      openLogOutput(STANDARD_OUTPUT, (lines) =>
        log.warn(
          { lines },
          'lines of the log were dropped, as it could not be written for a while: has its disk room?',
        ),
      ),
  );
  return log;
}

/** An error whose fault and remedy, in our own words alone, are for the operator to read in the log. */
export abstract class Mendable extends Error {
  abstract readonly remedy: string;
}

/** What a mail server refused, and by which code (RFC 5321 §4.2), in nodemailer's words. */
type Refused = { readonly responseCode?: unknown; readonly command?: unknown };
const SMTP_COMMAND = /^(?:CONN|EHLO|HELO|LHLO|STARTTLS|AUTH [A-Z0-9-]{1,20}|MAIL FROM|RCPT TO|DATA)$/;

/** What is wrong with a mail server or an address book, in a word of ours, and whose it is. */
type OfServer = { readonly fault?: unknown; readonly account?: unknown };
/** Node's and its libraries' names for what is wrong with a connection. */
const CODE = /^[A-Z][A-Z0-9_]{1,47}$/;

/**
 * Name, code and place of an error. Its message is left out: mail servers and libraries put addresses and commands in
 * it.
 */
function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { name: typeof error };
  const { code, responseCode, command, fault, account } = error as NodeJS.ErrnoException & Refused & OfServer;
  const cause = error.cause instanceof Error ? (error.cause as NodeJS.ErrnoException).code : undefined;
  const { message, stack = '' } = error;
  return {
    name: error.name,
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof fault === 'string' && /^[a-z]{1,32}$/.test(fault) ? { fault } : {}),
    ...(account === 'source' || account === 'destination' ? { account } : {}),
    ...(typeof cause === 'string' && cause !== code && CODE.test(cause) ? { cause } : {}),
    ...(error instanceof Mendable ? { remedy: error.remedy } : {}),
    ...(typeof responseCode === 'number' ? { responseCode } : {}),
    ...(typeof command === 'string' && SMTP_COMMAND.test(command) ? { command } : {}),
    // A message may have lines that look like places. One that was changed meanwhile is not what the stack begins with.
    at: (stack.includes(message) ? stack.slice(stack.indexOf(message) + message.length) : '')
      .split('\n')
      .filter((line) => /^\s+at /.test(line))
      .slice(0, 6)
      .map((line) => line.trim()),
  };
}
