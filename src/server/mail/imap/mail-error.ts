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

/** An account's part in a transfer. */
export type MailRole = 'source' | 'destination';

export class MailError extends Error {
  override name = 'MailError';
  readonly fault: MailFault;
  /** Milliseconds that the server asked us to stay away. */
  readonly pause: number | undefined;
  /** The response code of RFC 5530 and its like, upper case, without brackets. */
  readonly responseCode: string | undefined;
  /** Which of a transfer's accounts it was, noted by the connection, or by who opened it. */
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

  /** Of that account, unless it is known to be of the other one. */
  of(account: MailRole | undefined): this {
    this.account ??= account;
    return this;
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
  constructor(account?: MailRole) {
    super('lost', 'The mailbox has another UIDVALIDITY than before.');
    this.account = account;
  }
}

/** Whether a server said NO or BAD to a command, for no reason that passes. */
export function isRefusal(error: unknown): error is MailError {
  return error instanceof MailError && error.fault === 'refused';
}

/** What stops all that is done with an account. Some servers say it of one mailbox. */
export function isOfAccount(error: unknown): error is MailError {
  return error instanceof MailError && (error.fault === 'credentials' || error.fault === 'full');
}

/**
 * Whether a server says that the account has had all that it may for now (Gmail, of a day's octets), and not of
 * connections.
 */
export function isSpent(error: unknown): error is MailError {
  if (!(error instanceof MailError) || error.fault !== 'busy' || error.responseCode !== 'OVERQUOTA') return false;
  return !/\bconnections?\b/i.test(wordsOf(error).slice(0, TEXT_LENGTH));
}

/** The same answer, as one to that command only. */
export function asRefusal({ responseCode, cause, account }: MailError): MailError {
  const options = { cause, ...(responseCode === undefined ? {} : { responseCode }) };
  return new MailError('refused', `The mail server: refused (${responseCode ?? 'no code'}).`, options).of(account);
}

/** The same goodbye, as one {@link isFarewell without a reason that passes}. */
export function asFarewell({ responseCode, cause, account }: MailError): MailError {
  const options = { cause, ...(responseCode === undefined ? {} : { responseCode }) };
  return new MailError('lost', 'The mail server said goodbye.', options).of(account);
}

/**
 * A refusal in a server's own words, without a response code: many say no more than NO when something is wrong with
 * them.
 */
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
  return (isOver && !isGoodbye(error)) || isInTrouble(error);
}

/**
 * Whether a server has said that something is wrong with it. Yahoo says the second of single messages, each time (imapsync
 * 119); with a goodbye it is said of the server.
 */
export function isInTrouble(error: MailError): boolean {
  return error.responseCode === 'SERVERBUG' || (error.responseCode === 'UNAVAILABLE' && !isGoodbye(error));
}

/** Of a limit of how much is asked in a time; the other ones are of how many there may be. */
const RATE_TEXT =
  /\brate|throttl|too many(?! (?:\w+ )?(?:flags|keywords|folders|mailboxes|labels|levels)\b)|too fast|backoff|later|bandwidth|daily|\bdays?\b|hour|minute|transfer|download|session/i;

/** An implementation limit (RFC 5530) that no pause takes away; some servers say the same of too many commands. */
export function isLasting(error: MailError): boolean {
  const words = wordsOf(error);
  return error.responseCode === 'LIMIT' && !RATE_TEXT.test(words) && !BUSY_TEXT.test(words);
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

/**
 * A goodbye without a reason that passes: to the connection, to the account for a while (Gmail, for a day), or to one
 * message.
 */
export function isFarewell(error: unknown): error is MailError {
  return error instanceof MailError && error.fault === 'lost' && isGoodbye(error);
}

/**
 * Whether what passes by the server's words may stay. Exchange says the first of a connection too many, and for good
 * where the owner may not read the mailbox by IMAP; "temporarily disabled" may be until its owner, or an administrator,
 * enables it.
 */
export function mayBeForGood(error: MailError): boolean {
  // One that asks for a pause says when it is over.
  if (error.pause !== undefined) return false;
  const words = wordsOf(error).slice(0, TEXT_LENGTH);
  if (/authenticated but not connected/i.test(words)) return true;
  return error.fault === 'busy' && error.responseCode !== 'UNAVAILABLE' && SWITCHED_OFF.test(words);
}

/** Whether a server said that it lets no mail programs in, whatever the password. */
export function isSwitchedOff(error: MailError): boolean {
  return error.fault === 'refused' && SWITCHED_OFF.test(wordsOf(error).slice(0, TEXT_LENGTH));
}

/** Whether the server took the command for none. */
export function isMisread(error: MailError): boolean {
  return statusOf(error) === 'BAD';
}

function statusOf({ cause }: MailError): unknown {
  return (cause as { readonly responseStatus?: unknown } | undefined)?.responseStatus;
}

/** @returns `null` where the server {@link isRefusal refuses} what was asked for */
export function unlessRefused<Answer>(asking: Promise<Answer>): Promise<Answer | null> {
  return unless(isRefusal, asking);
}

/** The same, also where its answer is {@link isOfAccount as if of the account}. */
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
 * Gmail, Exchange, Yahoo and Dovecot say these without a response code; the last one Exchange, of one connection too
 * many.
 */
const BUSY_TEXT =
  /throttl|too many (?:\w+ ){0,3}connections|number of connections|(?:rate|bandwidth|connection) limit|suggested backoff|server (?:busy|unavailable)|authenticated but not connected/i;
/** At a sign-in: of a message it may be said for good. Gmail locks an account so for up to a day. */
const PASSING_TEXT = /\btemporar(?:y|ily)\b|\b(?:system|server|internal) error\b|try again later|lockdown/i;
/** Some servers add to it that it may be tried again. */
const OF_CREDENTIALS =
  /\b(?:invalid|unknown|bad) user\b|\b(?:invalid|wrong|incorrect|bad)\b[^.]{0,40}\b(?:password|user ?name|credentials|login)\b|\b(?:password|user ?name|credentials)\b[^.]{0,20}\b(?:invalid|wrong|incorrect|not correct|not match|not valid)\b|\bcheck your (?:user ?name|password)/i;
/** At a sign-in that is right: Gmail, Zoho and others, where the owner or an administrator lets no mail programs in. */
const SWITCHED_OFF =
  /\bimap4?\b[^.]{0,30}\b(?:disabled|blocked|not (?:enabled|activated|allowed|permitted)|(?:switched|turned) off)\b|\b(?:not enabled for|yet to enable|not allowed to use) imap\b/i;
const FULL_TEXT =
  /over (?:\w+ )?quota|overquota|quota (?:limit|(?:has been )?exceeded)|exceed(?:s|ed|ing)? (?:\w+ ){0,3}quota|storage limit|mailbox (?:is )?full/i;
/** A server that asks for more, perhaps for more than there is time, is asked again after this; in milliseconds. */
const LONGEST_PAUSE = 24 * 3_600_000;
const BACKOFF = /backoff time[:=\s]+(\d+)\s*milliseconds/i;

/** Of a server's words no more is read. */
const TEXT_LENGTH = 500;

function faults(codes: Partial<Record<MailFault, readonly string[]>>): ReadonlyMap<string | undefined, MailFault> {
  return new Map(
    Object.entries(codes).flatMap(([fault, all]) => all.map((code) => [code, fault as MailFault] as const)),
  );
}

/** What Node puts on the errors of a connection, and `errorOf` on a server's answers; the text is a server's own. */
type RawClues = {
  code?: unknown;
  authenticationFailed?: unknown;
  serverResponseCode?: unknown;
  responseStatus?: unknown;
  responseText?: unknown;
};

type Clues = {
  readonly raw: RawClues;
  /** Node's; empty if there is none. */
  readonly code: string;
  readonly responseCode: string | undefined;
  readonly text: string;
};

/** Reads the codes of an answer or a socket error, its text only where a server gave no code. Other errors are thrown on. */
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

/** No connection, or none any more. A server that has too many may say so before it hangs up. */
function faultOfConnection({ code, text }: Clues): MailFault | undefined {
  const fault = BY_ERROR_CODE.get(code);
  if ((fault === 'unreachable' || fault === 'lost') && BUSY_TEXT.test(text)) return 'busy';
  return fault ?? (CERTIFICATE.test(code) ? 'certificate' : undefined);
}

function faultOfAnswer({ raw, responseCode, text }: Clues): MailFault | undefined {
  // Gmail says it of a day's octets as well.
  if (responseCode === 'OVERQUOTA' && BUSY_TEXT.test(text)) return 'busy';
  const known = BY_RESPONSE_CODE.get(responseCode) ?? faultInWords(responseCode, text);
  if (raw.authenticationFailed === true) return faultOfSignIn(text, known);
  if (known !== undefined) return known;
  const isRefused = raw.responseStatus === 'NO' || raw.responseStatus === 'BAD' || responseCode !== undefined;
  return isRefused ? 'refused' : undefined;
}

/** Where no mail programs are let in for good, signing in anew would not help. */
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

/** What ended a connection that stood: its cause is told apart only where that says what is to be done. */
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
