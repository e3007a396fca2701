import { asFarewell, type MailError, mailErrorOf } from '../mail-error.ts';

/** How much of the human-readable text is kept, in characters. */
const TEXT_LIMIT = 1000;

/**
 * A status response with its response code (RFC 9051 §7.1), both in upper case; `args` is what follows the code within
 * the brackets. ALERT is not taken as a code: it only asks that the text be shown, and does not tell what is wrong
 * (Gmail).
 */
export type StatusResponse = {
  readonly status: 'OK' | 'NO' | 'BAD' | 'BYE' | 'PREAUTH';
  readonly code: string | undefined;
  readonly args: string;
  readonly text: string;
};

/** Reads a status response after its tag or `*`; `undefined` if the response is another one. */
export function readStatus(line: string, from: number): StatusResponse | undefined {
  const end = line.indexOf(' ', from);
  const status = line.slice(from, end < 0 ? Math.min(line.length, from + 8) : Math.min(end, from + 8)).toUpperCase();
  switch (status) {
    case 'OK':
    case 'NO':
    case 'BAD':
    case 'BYE':
    case 'PREAUTH':
      break;
    default:
      return undefined;
  }
  let at = end < 0 ? line.length : end + 1;
  while (line[at] === ' ') at++;
  const close = line[at] === '[' ? line.indexOf(']', at) : -1;
  if (close < 0) return { status, code: undefined, args: '', text: readable(line.slice(at, at + TEXT_LIMIT)) };
  const inside = line.slice(at + 1, close).trim();
  const space = inside.indexOf(' ');
  const code = (space < 0 ? inside : inside.slice(0, space)).toUpperCase();
  return {
    status,
    code: code === 'ALERT' ? undefined : code,
    args: space < 0 ? '' : inside.slice(space + 1).trim(),
    text: readable(line.slice(close + 1, close + 1 + TEXT_LIMIT).trim()),
  };
}

function readable(octets: string): string {
  return Buffer.from(octets, 'latin1').toString('utf8');
}

/** The error for NO, BAD or BYE. Its `cause` has the server's text as `responseText`. */
export function errorOf(answer: StatusResponse, options: { readonly signingIn?: boolean } = {}): MailError {
  const words = {
    responseStatus: answer.status,
    responseText: answer.text,
    ...(answer.code === undefined ? {} : { serverResponseCode: answer.code }),
    ...(options.signingIn === true ? { authenticationFailed: true } : {}),
  };
  const cause = new Error(`${answer.status} ${answer.code ?? ''}`.trim());
  if (answer.status !== 'BYE') return mailErrorOf(Object.assign(cause, words));
  // A BYE ends the connection, whatever its text means; with a code, it may ask for a pause.
  const error = mailErrorOf(
    Object.assign(cause, words, { code: answer.code === undefined ? 'EConnectionClosed' : '' }),
  );
  return error.fault === 'refused' ? asFarewell(error) : error;
}
