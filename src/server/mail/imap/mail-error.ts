/**
 * What went wrong with a mail server, by what is to be done about it:
 * - `credentials` it refused the sign-in;
 * - `unreachable` no connection: name unknown, port closed, address not allowed;
 * - `certificate` no secure connection: the certificate does not fit, or there is no TLS;
 * - `slow` it did not answer in time;
 * - `lost` the connection ended under way;
 * - `busy` it asked for a pause, or can't do it for now;
 * - `full` the mailbox has no room;
 * - `refused` it answered NO or BAD to a command.
 */
export type MailFault = 'credentials' | 'unreachable' | 'certificate' | 'slow' | 'lost' | 'busy' | 'full' | 'refused';

/** An account's part in a transfer. */
export type MailRole = 'source' | 'destination';

export class MailError extends Error {
  override name = 'MailError';
  readonly fault: MailFault;
  /** The pause that the server asked for, in milliseconds. */
  readonly pause: number | undefined;
  /** The response code (RFC 5530 and others), upper case, without brackets. */
  readonly responseCode: string | undefined;
  /** Which of the transfer's accounts the error concerns; noted by the connection, or by whoever opened it. */
  account: MailRole | undefined;

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

  /** Notes which of the transfer's accounts the error concerns, unless that has been noted already. */
  of(account: MailRole | undefined): this {
    this.account ??= account;
    return this;
  }

  /**
   * Whether the same may succeed later without any action by the owner. That includes TLS: an overloaded server reports
   * it by an alert or in clear text, one of several hosts has an old certificate, and expired certificates get renewed.
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

/**
 * The mailbox's UIDVALIDITY has changed since it was opened before, so the UIDs that are known mean nothing any more.
 */
export class MailboxRenumbered extends MailError {
  constructor(account?: MailRole) {
    super('lost', 'The mailbox has another UIDVALIDITY than before.');
    this.account = account;
  }
}

/** Whether a server answered NO or BAD to a command, for a reason that does not pass by itself. */
export function isRefusal(error: unknown): error is MailError {
  return error instanceof MailError && error.fault === 'refused';
}

/**
 * Whether the error concerns the whole account (its sign-in, its room), though some servers say the same about one
 * mailbox.
 */
export function isOfAccount(error: unknown): error is MailError {
  return error instanceof MailError && (error.fault === 'credentials' || error.fault === 'full');
}

/**
 * Whether the server says that the account has used up what it may for now (Gmail: octets a day). A limit on
 * connections is not meant.
 */
export function isSpent(error: unknown): error is MailError {
  if (!(error instanceof MailError) || error.fault !== 'busy' || error.responseCode !== 'OVERQUOTA') return false;
  return !/\bconnections?\b/i.test(wordsOf(error).slice(0, TEXT_LENGTH));
}

/** The same answer, as a refusal of that one command. */
export function asRefusal({ responseCode, cause, account }: MailError): MailError {
  const options = { cause, ...(responseCode === undefined ? {} : { responseCode }) };
  return new MailError('refused', `The mail server: refused (${responseCode ?? 'no code'}).`, options).of(account);
}

/** The same BYE, as one that {@link isFarewell} accepts. */
export function asFarewell({ responseCode, cause, account }: MailError): MailError {
  const options = { cause, ...(responseCode === undefined ? {} : { responseCode }) };
  return new MailError('lost', 'The mail server said goodbye.', options).of(account);
}

/**
 * Whether it is a refusal in text alone, without a response code: many servers answer a plain NO when something is
 * wrong with themselves.
 */
export function isBareRefusal(error: unknown): error is MailError {
  return isRefusal(error) && error.responseCode === undefined && error.cause !== undefined;
}

/**
 * Whether the server may have failed at a single message: some drop the connection, fall silent or report a bug of
 * their own then. Not if it ended the connection with BYE.
 */
export function isBreak(error: unknown): boolean {
  if (!(error instanceof MailError)) return false;
  const isOver = error.fault === 'lost' || error.fault === 'slow';
  return (isOver && !isGoodbye(error)) || isInTrouble(error);
}

/**
 * Whether a server reports trouble of its own that may concern a single message. Yahoo answers UNAVAILABLE about single
 * messages, each time (imapsync 119); with BYE, it concerns the whole server.
 */
export function isInTrouble(error: MailError): boolean {
  return error.responseCode === 'SERVERBUG' || (error.responseCode === 'UNAVAILABLE' && !isGoodbye(error));
}

/** Tells limits on how much is asked within a time, which pass, from limits on how many there may be of something. */
const RATE_TEXT =
  /\brate|throttl|too many(?! (?:\w+ )?(?:flags|keywords|folders|mailboxes|labels|levels)\b)|too fast|backoff|later|bandwidth|daily|\bdays?\b|hour|minute|transfer|download|session/i;

/**
 * Whether it is an implementation limit (RFC 5530 `LIMIT`), which no pause lifts. Some servers use that code for rates,
 * too.
 */
export function isLasting(error: MailError): boolean {
  const words = wordsOf(error);
  return error.responseCode === 'LIMIT' && !RATE_TEXT.test(words) && !BUSY_TEXT.test(words);
}

/** The human-readable text of the server's answer; empty if there was none. */
export function wordsOf({ cause }: MailError): string {
  const { responseText } = (cause ?? {}) as { readonly responseText?: unknown };
  return typeof responseText === 'string' ? responseText : '';
}

/** Whether the connection ended by the server's BYE. */
export function isGoodbye(error: MailError): boolean {
  return statusOf(error) === 'BYE';
}

/**
 * Whether the server ended the connection with BYE, without giving a passing reason. That may concern the connection,
 * the account for a while (Gmail: for a day), or one message.
 */
export function isFarewell(error: unknown): error is MailError {
  return error instanceof MailError && error.fault === 'lost' && isGoodbye(error);
}

/**
 * Whether a fault that the server calls passing may be permanent. Exchange says "authenticated but not connected" of
 * one connection too many, but also, for good, if the owner may not read the mailbox by IMAP; "temporarily disabled"
 * may last until the owner or an administrator enables IMAP.
 */
export function mayBeForGood(error: MailError): boolean {
  // A server that names a pause says when it is over.
  if (error.pause !== undefined) return false;
  const words = wordsOf(error).slice(0, TEXT_LENGTH);
  if (/authenticated but not connected/i.test(words)) return true;
  return error.fault === 'busy' && error.responseCode !== 'UNAVAILABLE' && SWITCHED_OFF.test(words);
}

/** Whether a server said that IMAP is switched off for the account, whatever the password. */
export function isSwitchedOff(error: MailError): boolean {
  return error.fault === 'refused' && SWITCHED_OFF.test(wordsOf(error).slice(0, TEXT_LENGTH));
}

/** Whether the server answered BAD: it could not parse the command, or does not know it. */
export function isMisread(error: MailError): boolean {
  return statusOf(error) === 'BAD';
}

function statusOf({ cause }: MailError): unknown {
  return (cause as { readonly responseStatus?: unknown } | undefined)?.responseStatus;
}

/** @returns `null` if the server's answer is a {@link isRefusal refusal} */
export function unlessRefused<Answer>(asking: Promise<Answer>): Promise<Answer | null> {
  return unless(isRefusal, asking);
}

/** The same, and also `null` if the answer seems to {@link isOfAccount concern the whole account}. */
export function unlessNo<Answer>(asking: Promise<Answer>): Promise<Answer | null> {
  return unless((error) => isRefusal(error) || isOfAccount(error), asking);
}

async function unless<Answer>(isNo: (error: unknown) => boolean, asking: Promise<Answer>): Promise<Answer | null> {
  try {
    return await asking;
  } catch (error) {
    if (!isNo(error)) throw error;
    return null;
  }
}

const UNREACHABLE = [
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
];
const LOST = ['EConnectionClosed', 'ECONNRESET', 'EPIPE', 'ECONNABORTED'];
const BY_ERROR_CODE = faults({ unreachable: UNREACHABLE, slow: ['ETIMEDOUT'], lost: LOST });
const CERTIFICATE =
  /^(?:CERT_|ERR_TLS_|ERR_SSL_|EPROTO$|DEPTH_ZERO_SELF_SIGNED_CERT$|SELF_SIGNED_CERT_IN_CHAIN$|UNABLE_TO_)/;
const BY_RESPONSE_CODE = faults({
  busy: ['UNAVAILABLE', 'INUSE', 'LIMIT', 'THROTTLED', 'SERVERBUG'],
  full: ['OVERQUOTA'],
  credentials: ['AUTHENTICATIONFAILED', 'AUTHORIZATIONFAILED', 'EXPIRED', 'PRIVACYREQUIRED'],
});
/**
 * Said by Gmail, Exchange, Yahoo and Dovecot without a response code; the last alternative by Exchange, of one
 * connection too many.
 */
const BUSY_TEXT =
  /throttl|too many (?:\w+ ){0,3}connections|number of connections|(?:rate|bandwidth|connection) limit|suggested backoff|server (?:busy|unavailable)|authenticated but not connected/i;
/**
 * Passing only as the answer to a sign-in; about a message, it may be final. Gmail locks accounts like this for up to a
 * day.
 */
const PASSING_TEXT = /\btemporar(?:y|ily)\b|\b(?:system|server|internal) error\b|try again later|lockdown/i;
/** Wrong credentials, even if the server adds that one may try again. */
const OF_CREDENTIALS =
  /\b(?:invalid|unknown|bad) user\b|\b(?:invalid|wrong|incorrect|bad)\b[^.]{0,40}\b(?:password|user ?name|credentials|login)\b|\b(?:password|user ?name|credentials)\b[^.]{0,20}\b(?:invalid|wrong|incorrect|not correct|not match|not valid)\b|\bcheck your (?:user ?name|password)/i;
/**
 * Sent by Gmail, Zoho and others although the password is right: the owner or an administrator has switched IMAP off.
 */
const SWITCHED_OFF =
  /\bimap4?\b[^.]{0,30}\b(?:disabled|blocked|not (?:enabled|activated|allowed|permitted)|(?:switched|turned) off)\b|\b(?:not enabled for|yet to enable|not allowed to use) imap\b/i;
const FULL_TEXT =
  /over (?:\w+ )?quota|overquota|quota (?:limit|(?:has been )?exceeded)|exceed(?:s|ed|ing)? (?:\w+ ){0,3}quota|storage limit|mailbox (?:is )?full/i;
/** A server that asks for a longer pause is tried again after this one; in milliseconds. */
const LONGEST_PAUSE = 24 * 3_600_000;
const BACKOFF = /backoff time[:=\s]+(\d+)\s*milliseconds/i;

/** How much of a server's text is read, in characters. */
const TEXT_LENGTH = 500;

function faults(codes: Partial<Record<MailFault, readonly string[]>>): ReadonlyMap<string | undefined, MailFault> {
  return new Map(
    Object.entries(codes).flatMap(([fault, all]) => all.map((code) => [code, fault as MailFault] as const)),
  );
}

/** The properties that Node sets on connection errors, and `errorOf` on errors from a server's answers. */
type RawClues = {
  code?: unknown;
  authenticationFailed?: unknown;
  serverResponseCode?: unknown;
  responseStatus?: unknown;
  responseText?: unknown;
};

type Clues = {
  readonly raw: RawClues;
  /** Node's error code; empty if there is none. */
  readonly code: string;
  readonly responseCode: string | undefined;
  readonly text: string;
};

/**
 * Classifies a server's answer or a socket error, by its codes; by its text only if there is none. Rethrows other
 * errors.
 */
export function mailErrorOf(error: unknown): MailError {
  if (error instanceof MailError) return error;
  if (!(error instanceof Error)) throw error;
  const clues = cluesIn(error);
  const fault = faultOfConnection(clues) ?? faultOfAnswer(clues);
  if (fault === undefined) throw error;
  const { code, responseCode } = clues;
  const pause = pauseOf(clues);
  return new MailError(fault, `The mail server: ${fault} (${code || (responseCode ?? 'no code')}).`, {
    cause: error,
    ...(responseCode === undefined ? {} : { responseCode }),
    ...(pause === undefined ? {} : { pause }),
  });
}

function cluesIn(error: Error): Clues {
  const raw = error as Error & RawClues;
  const responseCode = typeof raw.serverResponseCode === 'string' ? raw.serverResponseCode : undefined;
  return {
    raw,
    code: typeof raw.code === 'string' ? raw.code : '',
    responseCode: responseCode?.toUpperCase(),
    text: typeof raw.responseText === 'string' ? raw.responseText.slice(0, TEXT_LENGTH) : '',
  };
}

/**
 * The fault of a connection that failed or ended. A server with too many connections may say so before it drops one.
 */
function faultOfConnection({ code, text }: Clues): MailFault | undefined {
  const fault = BY_ERROR_CODE.get(code);
  if ((fault === 'unreachable' || fault === 'lost') && BUSY_TEXT.test(text)) return 'busy';
  return fault ?? (CERTIFICATE.test(code) ? 'certificate' : undefined);
}

function faultOfAnswer({ raw, responseCode, text }: Clues): MailFault | undefined {
  // Gmail sends this code for its daily limit, too.
  if (responseCode === 'OVERQUOTA' && BUSY_TEXT.test(text)) return 'busy';
  const known = BY_RESPONSE_CODE.get(responseCode) ?? faultInWords(responseCode, text);
  if (raw.authenticationFailed === true) return faultOfSignIn(text, known);
  if (known !== undefined) return known;
  const isRefused = raw.responseStatus === 'NO' || raw.responseStatus === 'BAD' || responseCode !== undefined;
  return isRefused ? 'refused' : undefined;
}

/** `refused` and not `credentials` if IMAP is switched off for good: a new sign-in would not help. */
function faultOfSignIn(text: string, known: MailFault | undefined): MailFault {
  if (known !== undefined && known !== 'credentials') return known;
  if (OF_CREDENTIALS.test(text)) return 'credentials';
  const isOff = SWITCHED_OFF.test(text);
  if (PASSING_TEXT.test(text)) return isOff ? 'busy' : (known ?? 'busy');
  return isOff ? 'refused' : 'credentials';
}

function faultInWords(responseCode: string | undefined, text: string): MailFault | undefined {
  if (responseCode !== undefined) return undefined;
  if (BUSY_TEXT.test(text)) return 'busy';
  return FULL_TEXT.test(text) ? 'full' : undefined;
}

/** The error for an established connection that ended. Its cause is only distinguished if that decides what to do. */
export function lostBy(error: unknown): MailError {
  if (error instanceof MailError) return error;
  if (error === undefined) return new MailError('lost', 'The mail server closed the connection.');
  if (!(error instanceof Error)) throw error;
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ETIMEDOUT') return mailErrorOf(error);
  return new MailError('lost', `The connection to the mail server ended (${code ?? 'no code'}).`, { cause: error });
}

function pauseOf({ text }: Clues): number | undefined {
  const hint = BACKOFF.exec(text)?.[1];
  return hint === undefined ? undefined : Math.min(LONGEST_PAUSE, Number(hint));
}
