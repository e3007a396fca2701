import * as v from 'valibot';
import { statusAddress } from '../../contract/page-address.ts';
import type { Settings } from '../../contract/settings.ts';
import { UsPhone } from '../../contract/transfer.ts';
import type { Log } from '../log.ts';
import { type Letters, openLetters, Unanswered } from './letters.ts';
import type { News, NotificationKind } from './news.ts';
import { reviewLetterOf, type Review } from './review.ts';
import { sendSms } from './sms.ts';
import { letterOf, senderOf, smsOf, type Notification } from './wording.ts';

const SEND_WITHIN_MS = 30_000;
/**
 * A mail server may look through a letter for minutes before it takes it (RFC 5321 §4.5.3.2), and one that is not waited
 * for would get it again with each try. Both are less than the queue gives a job.
 */
const ANSWER_WITHIN_MS = 5 * 60_000;
const LETTER_WITHIN_MS = 8 * 60_000;
/** How long a letter under way is waited for when the process ends. */
const ENDED_WITHIN_MS = 20_000;
/** After so many tries without an answer, an hour, a letter or SMS is given up: each may have arrived. */
const UNANSWERED_TRIES = 8;
/** How many sent notifications are remembered, in case the queue delivers their jobs again. */
const SENT_REMEMBERED = 10_000;

export type NotifierSettings = Pick<
  Settings,
  'smtpUrl' | 'smtpInClear' | 'mailFrom' | 'supportEmail' | 'sms' | 'publicUrl' | 'legacyName' | 'supportPhone'
>;

/**
 * `review` goes to support, all other kinds to the subscriber. `occurrence` distinguishes notifications of a kind that is
 * sent more than once; for `paused` it begins with `resumed`, `side` and `reason` of {@link News.attention},
 * with dots between, and for `taken back` it is {@link News.takeBackAsked} in milliseconds.
 */
export type NotificationJob = {
  readonly transferId: string;
  readonly kind: NotificationKind | 'review';
  readonly occurrence?: string;
  /** How often it may have arrived so far, as {@link Unanswered} tells; the queue counts. */
  readonly unanswered?: number;
};

type NotifierServices = {
  readonly settings: NotifierSettings;
  readonly log: Log;
  /** `null` if there is no such transfer, or nobody to tell. */
  readonly news: (transferId: string) => Promise<News | null>;
  /** `null` if there is nothing to review. */
  readonly review: (transferId: string) => Promise<Review | null>;
  readonly processEnds?: AbortSignal;
};

export type Notifier = Disposable & {
  /** Sends a notification. If it throws, the queue tries again, unless this was the last try. */
  readonly tell: (job: NotificationJob, isLast: boolean) => Promise<void>;
};

/** Whether a contact, an address or `+1` and ten digits, can be reached with these settings. */
export function canTell({ smtpUrl, sms }: Pick<Settings, 'smtpUrl' | 'sms'>, contact: string): boolean {
  return (v.is(UsPhone, contact) ? sms : smtpUrl) !== undefined;
}

/** Sends letters and SMS, each only if its server or gateway is configured. */
export function openNotifier({ settings, log, news, review, processEnds }: NotifierServices): Notifier {
  const letters =
    settings.smtpUrl === undefined ? null : lettersTo(settings.smtpUrl, settings.smtpInClear, processEnds);
  const sent = new Set<string>();
  return {
    tell: async (job, isLast) => {
      const { transferId, kind, unanswered = 0 } = job;
      const key = keyOf(job);
      // It was sent, and the queue failed to record that.
      if (sent.has(key)) return;
      const { publicUrl, legacyName, supportPhone } = settings;
      const statusUrl = `${publicUrl}${statusAddress(transferId)}`;
      try {
        if (kind === 'review') {
          const found = await review(transferId);
          if (found !== null) await tellSupport(found, { transferId, statusUrl, legacyName }, settings, letters);
        } else {
          const told = await news(transferId);
          if (told === null || isOver(job, told)) return;
          // An unproven contact may be a stranger's, who gets no message about the start.
          if (!told.isConfirmed && kind === 'started') return;
          await send({ ...told, kind, transferId, statusUrl, legacyName, supportPhone }, key, settings, letters);
        }
      } catch (error) {
        const facts = { err: error, transferId, kind };
        if (isNoMailbox(error)) {
          log.error(facts, 'a notification is given up: the mail server says that there is no such mailbox');
          return;
        }
        if (error instanceof Unanswered && unanswered + 1 >= UNANSWERED_TRIES) {
          log.error(
            facts,
            'a notification is given up: the mail server, or the gateway for SMS, takes it and does not say so, and it may have arrived each time',
          );
          return;
        }
        if (isLast)
          log.error(
            facts,
            'a notification was not sent in three days, and is given up: can SMTP_URL and SMS_URL be used?',
          );
        else if (isOfAllLetters(error))
          log.error(
            facts,
            'a notification was not sent, and none will be until SMTP_URL can be used. It is tried again',
          );
        else if (isRefused(error))
          log.error(facts, 'the mail server refuses a notification: does it let MAIL_FROM send? It is tried again');
        else log.warn(facts, 'a notification was not sent; it is tried again');
        throw error;
      }
      sent.add(key);
      for (const oldest of sent) {
        if (sent.size <= SENT_REMEMBERED) break;
        sent.delete(oldest);
      }
    },
    [Symbol.dispose]: () => letters?.[Symbol.dispose](),
  };
}

function lettersTo(url: string, inClear: boolean, processEnds?: AbortSignal): Letters {
  const ending = new AbortController();
  processEnds?.addEventListener('abort', () => setTimeout(() => ending.abort(), ENDED_WITHIN_MS).unref());
  return openLetters({
    url,
    inClear,
    silence: SEND_WITHIN_MS,
    answerWithin: ANSWER_WITHIN_MS,
    letterWithin: LETTER_WITHIN_MS,
    timeout: (milliseconds) => AbortSignal.any([AbortSignal.timeout(milliseconds), ending.signal]),
  });
}

/** Codes of nodemailer for an SMTP server that is unreachable or refuses us; other errors concern one letter, or SMS. */
function isOfAllLetters(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return ['EAUTH', 'ECONNECTION', 'EDNS', 'ESOCKET', 'ETIMEDOUT', 'ETLS'].some((each) => each === code);
}

/** For good, as it says; but what it lets nobody send (a sender, a limit) its operator may mend within the day. */
function isRefused(error: unknown): error is Error & { readonly response?: string } {
  return error instanceof Error && 'permanent' in error && error.permanent === true;
}

/**
 * The address is none, can't be written to, or has letters that not every server between here and there knows (RFC
 * 3463, RFC 6531).
 */
function isNoMailbox(error: unknown): boolean {
  return isRefused(error) && /^5\d\d[ -]5\.(?:1\.(?:[1236]|10)|2\.1|6\.7)\b/.test(error.response ?? '');
}

/** Identifies a notification, so that it is sent only once. */
export function keyOf({ transferId, kind, occurrence }: NotificationJob): string {
  return occurrence === undefined ? `${kind}.${transferId}` : `${kind}.${occurrence}.${transferId}`;
}

/** Whether events have overtaken the notification since it was queued. */
function isOver({ kind, occurrence }: NotificationJob, news: News): boolean {
  const { attention, waiting, hasLongEnded, takenBack, takeBackAsked } = news;
  if (kind === 'waiting') return waiting === undefined;
  if (kind === 'started' && (hasLongEnded === true || attention !== undefined)) return true;
  // If it was asked for again, the end of that has a letter of its own.
  if (kind === 'taken back') return takeBackAsked !== undefined && occurrence !== String(takeBackAsked.getTime());
  if (kind !== 'paused') return takenBack !== undefined;
  if (attention === undefined) return true;
  const { resumed, side, reason } = attention;
  // The letter would tell of another need once more.
  return occurrence?.startsWith(`${resumed}.${side}.${reason}`) !== true;
}

/** @param key the same for each attempt, so that a mailbox or a gateway can recognise a duplicate */
async function send(
  notification: Notification,
  key: string,
  settings: NotifierSettings,
  letters: Letters | null,
): Promise<void> {
  const { contact } = notification;
  if (v.is(UsPhone, contact)) {
    if (settings.sms !== undefined) await sendSms(settings.sms, contact, smsOf(notification), key);
    return;
  }
  if (letters === null || settings.mailFrom === undefined) return;
  await letters.send({
    from: senderOf(settings.mailFrom, settings.legacyName),
    to: contact,
    ...letterOf(notification),
    // A Message-ID can't contain spaces (RFC 5322 §3.6.4), and some servers reject a malformed one.
    messageId: `<${key.replaceAll(' ', '-')}@${new URL(settings.publicUrl).hostname}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
  });
}

/** Without `SUPPORT_EMAIL` the operator gets no letter; the program warns of that when it starts. */
async function tellSupport(
  review: Review,
  about: { transferId: string; statusUrl: string; legacyName: string },
  { mailFrom, supportEmail, publicUrl, legacyName }: NotifierSettings,
  letters: Letters | null,
): Promise<void> {
  if (letters === null || mailFrom === undefined || supportEmail === undefined) return;
  await letters.send({
    from: senderOf(mailFrom, legacyName),
    to: supportEmail,
    ...reviewLetterOf(review, about),
    messageId: `<review.${about.transferId}@${new URL(publicUrl).hostname}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
  });
}
