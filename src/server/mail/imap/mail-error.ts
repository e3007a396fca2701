/**
 * What went wrong with a mail server, by what is to be done about it:
 * - `credentials` it refused the sign-in;
 * - `unreachable` no connection: name unknown, port closed, address not allowed;
 * - `certificate` no connection that is safe: the certificate does not fit, or there is no TLS;
 * - `slow` it did not answer in time;
 * - `lost` the connection ended under way;
 * - `busy` it asked for a pause;
 * - `full` the mailbox has no room;
 * - `refused` it said NO or BAD to a command.
 */
export type MailFault = 'credentials' | 'unreachable' | 'certificate' | 'slow' | 'lost' | 'busy' | 'full' | 'refused';

export class MailError extends Error {
  override name = 'MailError';
  readonly fault: MailFault;
  /** Milliseconds that the server asked us to stay away. */
  readonly pause: number | undefined;
  /** The response code of RFC 5530 and its like, upper case, without brackets. */
  readonly responseCode: string | undefined;
  /** Which of a transfer's accounts it was, noted by who opened it. */
  account: 'source' | 'destination' | undefined;

  constructor(
    fault: MailFault,
    message: string,
    options: { pause?: number; responseCode?: string; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.fault = fault;
    this.pause = options.pause;
    this.responseCode = options.responseCode;
  }

  /**
   * Whether the same may work later without its owner doing something. TLS fails for a moment as well: a crowded server
   * says so by an alert or in clear, one of many has an old certificate, and those that run out are renewed.
   */
  get passing(): boolean {
    switch (this.fault) {
      case 'unreachable':
      case 'certificate':
      case 'slow':
      case 'lost':
      case 'busy':
        return true;
      case 'credentials':
      case 'full':
      case 'refused':
        return false;
    }
  }
}

/** A mailbox has another UIDVALIDITY than when it was opened before: what is known of its UIDs means nothing any more. */
export class MailboxRenumbered extends MailError {
  constructor() {
    super('lost', 'The mailbox has another UIDVALIDITY than before.');
  }
}

/** Whether a server said NO or BAD to a command, for no reason that passes. */
export function isRefusal(error: unknown): error is MailError {
  return error instanceof MailError && error.fault === 'refused';
}

/** A refusal in a server's own words, without a response code: many say no more than NO when something is wrong with them. */
export function isBareRefusal(error: unknown): error is MailError {
  return isRefusal(error) && error.responseCode === undefined && error.cause !== undefined;
}

/**
 * Some servers hang up, fall silent, or say that something is wrong with them, when they can't give a message. One that
 * says goodbye has had enough of the connection.
 */
export function isBreak(error: unknown): boolean {
  if (!(error instanceof MailError)) return false;
  const isOver = error.fault === 'lost' || error.fault === 'slow';
  return (isOver && !isGoodbye(error)) || error.responseCode === 'SERVERBUG';
}

/** What the server said to people with it; empty where it said nothing. */
export function wordsOf({ cause }: MailError): string {
  const { responseText } = (cause ?? {}) as { readonly responseText?: unknown };
  return typeof responseText === 'string' ? responseText : '';
}

/** Whether the connection ended by the server's BYE. */
export function isGoodbye(error: MailError): boolean {
  return statusOf(error) === 'BYE';
}

/** Whether the server took the command for none. */
export function isMisread(error: MailError): boolean {
  return statusOf(error) === 'BAD';
}

function statusOf({ cause }: MailError): unknown {
  return (cause as { readonly responseStatus?: unknown } | undefined)?.responseStatus;
}

/** @returns `null` where the server {@link isRefusal refuses} what was asked for */
export async function unlessRefused<Answer>(asking: Promise<Answer>): Promise<Answer | null> {
  try {
    return await asking;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return null;
  }
}

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'EACCES',
  'ClosedAfterConnectText',
  'ClosedAfterConnectTLS',
]);
const SLOW = new Set(['CONNECT_TIMEOUT', 'GREETING_TIMEOUT', 'UPGRADE_TIMEOUT', 'ETIMEOUT', 'ETIMEDOUT']);
const LOST = new Set(['NoConnection', 'EConnectionClosed', 'StateLogout', 'ECONNRESET', 'EPIPE', 'ECONNABORTED']);
const CERTIFICATE =
  /^(?:CERT_|ERR_TLS_|ERR_SSL_|EPROTO$|STARTTLS_INJECTION$|DEPTH_ZERO_SELF_SIGNED_CERT$|SELF_SIGNED_CERT_IN_CHAIN$|UNABLE_TO_)/;
const BUSY_CODES = new Set(['UNAVAILABLE', 'INUSE', 'LIMIT', 'THROTTLED', 'SERVERBUG']);
const REFUSED_SIGN_IN_CODES = new Set(['AUTHENTICATIONFAILED', 'AUTHORIZATIONFAILED', 'EXPIRED', 'PRIVACYREQUIRED']);
/** Gmail, Exchange and Yahoo say these without a response code; the last one Exchange, of one connection too many. */
const BUSY_TEXT =
  /throttl|too many (?:simultaneous )?connections|rate limit|suggested backoff|server (?:busy|unavailable)|authenticated but not connected/i;
const FULL_TEXT =
  /over ?quota|quota (?:limit|(?:has been )?exceeded)|exceed(?:s|ed|ing)? (?:your |the )?(?:mail )?quota|storage limit|mailbox is full/i;
const BACKOFF = /backoff time[:=\s]+(\d{1,9})\s*milliseconds/i;

/** Of a server's words no more is read. */
const TEXT_LENGTH = 500;

/** What imapflow and Node put on the errors of a connection; the texts are a server's own. */
type Clues = {
  code?: unknown;
  authenticationFailed?: unknown;
  tlsFailed?: unknown;
  serverResponseCode?: unknown;
  responseStatus?: unknown;
  responseText?: unknown;
  response?: unknown;
  reason?: unknown;
  throttleReset?: unknown;
  throttleWaited?: unknown;
};

/** Reads the codes of an imapflow or socket error, its text only where a server gave no code. Other errors are thrown on. */
export function mailErrorOf(error: unknown): MailError {
  if (error instanceof MailError) return error;
  if (!(error instanceof Error)) throw error;
  const clues = error as Error & Clues;
  const code = typeof clues.code === 'string' ? clues.code : '';
  const responseCode = (
    typeof clues.serverResponseCode === 'string' ? clues.serverResponseCode : codeOf(clues.response)
  )?.toUpperCase();
  const text = [clues.responseText, clues.reason]
    .filter((part) => typeof part === 'string')
    .map((part) => part.slice(0, TEXT_LENGTH))
    .join(' ');
  const wait = pauseOf(clues, text);
  const make = (fault: MailFault) =>
    new MailError(fault, `The mail server: ${fault} (${code || (responseCode ?? 'no code')}).`, {
      cause: error,
      ...(responseCode === undefined ? {} : { responseCode }),
      ...(wait === undefined ? {} : { pause: wait }),
    });
  if (code === 'ETHROTTLE') return make('busy');
  if (SLOW.has(code)) return make('slow');
  if (UNREACHABLE.has(code)) return make(BUSY_TEXT.test(text) ? 'busy' : 'unreachable');
  if (LOST.has(code)) return make(BUSY_TEXT.test(text) ? 'busy' : 'lost');
  if (clues.tlsFailed === true || CERTIFICATE.test(code)) return make('certificate');
  if (responseCode !== undefined && BUSY_CODES.has(responseCode)) return make('busy');
  if (responseCode === 'OVERQUOTA') return make('full');
  if (responseCode === undefined || responseCode === 'ALERT') {
    if (BUSY_TEXT.test(text)) return make('busy');
    if (FULL_TEXT.test(text)) return make('full');
  }
  if (clues.authenticationFailed === true || (responseCode !== undefined && REFUSED_SIGN_IN_CODES.has(responseCode)))
    return make('credentials');
  if (clues.responseStatus === 'NO' || clues.responseStatus === 'BAD' || responseCode !== undefined)
    return make('refused');
  if (
    code === 'InvalidResponse' ||
    code === 'UnexpectedTag' ||
    code.startsWith('ParserError') ||
    code.endsWith('TooLarge')
  )
    return make('lost');
  throw error;
}

/** What ended a connection that stood: its cause is told apart only where that says what is to be done. */
export function lostBy(error: unknown): MailError {
  if (error instanceof MailError) return error;
  if (error === undefined) return new MailError('lost', 'The mail server closed the connection.');
  if (!(error instanceof Error)) throw error;
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ETIMEDOUT') return mailErrorOf(error);
  return new MailError('lost', `The connection to the mail server ended (${code ?? 'no code'}).`, { cause: error });
}

function pauseOf(clues: Clues, text: string): number | undefined {
  if (typeof clues.throttleReset === 'number') {
    const waited = typeof clues.throttleWaited === 'number' ? clues.throttleWaited : 0;
    return Math.max(0, clues.throttleReset - waited);
  }
  const hint = BACKOFF.exec(text)?.[1];
  return hint === undefined ? undefined : Number(hint);
}

/** The response code in a tagged answer as imapflow parsed it: `[CODE …]` is its first attribute. */
function codeOf(response: unknown): string | undefined {
  const { attributes } = (response ?? {}) as { attributes?: { section?: { value?: unknown }[] }[] };
  const value = attributes?.[0]?.section?.[0]?.value;
  return typeof value === 'string' ? value : undefined;
}
