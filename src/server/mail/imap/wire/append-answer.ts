import { asFarewell, isGoodbye, isLasting, isMisread, MailError, wordsOf } from '../mail-error.ts';
import type { Appended } from '../streams.ts';
import { bigNumberOf } from './opening.ts';
import type { StatusResponse } from './status-response.ts';
import { numbersOf } from './uid-sets.ts';

/** The outcomes by APPENDUID (RFC 4315 §3), which has one UID for each message or none. */
export function storedBy({ code, args }: StatusResponse, count: number): Appended[] {
  const [validity = '', set = ''] = code === 'APPENDUID' ? args.split(' ', 2) : [];
  const uids = numbersOf(set, count);
  const uidValidity = bigNumberOf(validity) ?? 0n;
  return Array.from({ length: count }, (_, index) => {
    const uid = uids?.length === count ? uids[index] : undefined;
    return uid === undefined || uidValidity === 0n ? { kind: 'stored' } : { kind: 'stored', uid, uidValidity };
  });
}

/** Response codes (RFC 5530 and others) that concern the mailbox or the account, not the message. */
const NOT_ITS_OWN = new Set(['TRYCREATE', 'NONEXISTENT', 'NOPERM', 'INUSE', 'CORRUPTION', 'READ-ONLY']);

/**
 * The outcome of an append that ended in an error: `refused` for a reason of this message, `failed` for one that would
 * concern any other as well, `unknown` if the connection ended before the answer.
 * @throws what is no {@link MailError}
 */
export function notStoredBy(error: unknown): Appended {
  if (!(error instanceof MailError)) throw error;
  switch (error.fault) {
    case 'lost':
    case 'slow':
    case 'unreachable':
    case 'certificate':
      return { kind: 'unknown', error };
    case 'busy':
      if (!isLasting(error)) return failedBy(error);
      // This message exceeds the limit; or one of those before, if the server said so by BYE.
      return isGoodbye(error) ? { kind: 'unknown', error: asFarewell(error) } : refusedBy(error);
    case 'credentials':
    case 'full':
      return failedBy(error);
    case 'refused':
      return error.responseCode !== undefined && NOT_ITS_OWN.has(error.responseCode)
        ? { kind: 'failed', error }
        : refusedBy(error);
  }
}

/** A BYE, whatever its reason, does not tell what became of the messages that were sent before it. */
function failedBy(error: MailError): Appended {
  return { kind: isGoodbye(error) ? 'unknown' : 'failed', error };
}

function refusedBy(error: MailError): Appended {
  const text = wordsOf(error);
  if (error.responseCode === 'APPENDLIMIT' || error.responseCode === 'TOOBIG')
    return { kind: 'refused', reason: 'too large', text };
  if (TOO_LARGE.test(text)) return { kind: 'refused', reason: 'too large', text };
  if (/virus/i.test(text)) return { kind: 'refused', reason: 'virus', text };
  return {
    kind: 'refused',
    reason: 'not accepted',
    text,
    ...(isMisread(error) ? { isMisread: true } : {}),
    ...(OF_FLAGS.test(text) ? { isOfFlags: true } : {}),
  };
}

const TOO_LARGE = /maximum (?:message |allowed )?size|too large|too big|size exceed/i;
/** Dovecot: `Keyword length too long`. */
const OF_FLAGS = /\b(?:flag|keyword)s?\b/i;
