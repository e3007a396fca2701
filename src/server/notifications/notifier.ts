import { createTransport, type Transporter } from 'nodemailer';
import * as v from 'valibot';
import { statusAddress } from '../../contract/page-address.ts';
import type { Settings } from '../../contract/settings.ts';
import { UsPhone } from '../../contract/transfer.ts';
import type { Log } from '../log.ts';
import type { News, NotificationKind } from './news.ts';
import { letterOf, senderName, smsOf, type Notification } from './wording.ts';

const SEND_WITHIN_MS = 30_000;
/** So many of the last ones sent are remembered, in case the queue asks for them again. */
const SENT_REMEMBERED = 10_000;

export type NotifierSettings = Pick<
  Settings,
  'smtpUrl' | 'smtpInClear' | 'mailFrom' | 'sms' | 'publicUrl' | 'legacyName' | 'supportPhone'
>;

export type NotificationJob = { readonly transferId: string; readonly kind: NotificationKind };

type NotifierServices = {
  readonly settings: NotifierSettings;
  readonly log: Log;
  /** `null` when there is nothing to tell any more, or nobody. */
  readonly news: (transferId: string) => Promise<News | null>;
};

export type Notifier = Disposable & {
  /** Tells the subscriber; what it throws is tried again. */
  readonly tell: (job: NotificationJob) => Promise<void>;
};

/** Sends letters and SMS. Without an SMTP server or a gateway for SMS, that way of sending is off. */
export function openNotifier({ settings, log, news }: NotifierServices): Notifier {
  const mail = settings.smtpUrl === undefined ? null : transportTo(settings.smtpUrl, settings.smtpInClear);
  const sent = new Set<string>();
  return {
    tell: async ({ transferId, kind }) => {
      const key = `${kind}.${transferId}`;
      // The queue could not note it: it was sent all the same.
      if (sent.has(key)) return;
      const told = await news(transferId);
      if (told === null) return;
      // A stranger's address or telephone hears of it once, at the end.
      if (!told.isConfirmed && kind === 'started') return;
      const { publicUrl, legacyName, supportPhone } = settings;
      const statusUrl = `${publicUrl}${statusAddress(transferId)}`;
      try {
        await send({ ...told, kind, transferId, statusUrl, legacyName, supportPhone }, settings, mail);
      } catch (error) {
        log.warn({ err: error, transferId, kind }, 'a notification was not sent; it is tried again');
        throw error;
      }
      sent.add(key);
      for (const oldest of sent) {
        if (sent.size <= SENT_REMEMBERED) break;
        sent.delete(oldest);
      }
    },
    [Symbol.dispose]: () => mail?.close(),
  };
}

function transportTo(url: string, inClear: boolean): Transporter {
  return createTransport({
    url,
    requireTLS: !inClear,
    connectionTimeout: SEND_WITHIN_MS,
    greetingTimeout: SEND_WITHIN_MS,
    socketTimeout: SEND_WITHIN_MS,
  });
}

async function send(notification: Notification, settings: NotifierSettings, mail: Transporter | null): Promise<void> {
  const { contact, transferId, kind } = notification;
  if (v.is(UsPhone, contact)) {
    if (settings.sms !== undefined) await sendSms(settings.sms, contact, smsOf(notification), `${kind}.${transferId}`);
    return;
  }
  if (mail === null || settings.mailFrom === undefined) return;
  await mail.sendMail({
    from: sender(settings.mailFrom, settings.legacyName),
    to: contact,
    ...letterOf(notification),
    // The same for each attempt, so that a mailbox can tell a letter that came twice.
    messageId: `<${kind}.${transferId}@${new URL(settings.publicUrl).hostname}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
  });
}

/** An address alone gets a name, so that the letter says who it is from. */
function sender(mailFrom: string, legacyName: string): string | { name: string; address: string } {
  return mailFrom.includes('<') ? mailFrom : { name: senderName(legacyName), address: mailFrom };
}

/** @param key the same for each attempt, so that a gateway can tell a message that came twice. */
async function sendSms(sms: NonNullable<Settings['sms']>, to: string, text: string, key: string): Promise<void> {
  const answer = await fetch(sms.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'idempotency-key': key,
      ...(sms.token === undefined ? {} : { authorization: `Bearer ${sms.token}` }),
    },
    body: JSON.stringify({ to, text }),
    redirect: 'error',
    signal: AbortSignal.timeout(SEND_WITHIN_MS),
  });
  await answer.body?.cancel();
  if (!answer.ok) throw new Error(`The SMS gateway answered ${answer.status}.`);
}
