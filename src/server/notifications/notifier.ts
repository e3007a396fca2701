import { createTransport, type Transporter } from 'nodemailer';
import * as v from 'valibot';
import type { ExportFile } from '../../contract/calls/status.ts';
import { shownStatusOf } from '../../contract/transfer-status.ts';
import type { Settings } from '../../contract/settings.ts';
import { UsPhone } from '../../contract/transfer.ts';
import type { Log } from '../log.ts';
import type { Database } from '../store/database.ts';
import { claimNotification, noteSent, noteUnsent, type Notification } from './outbox.ts';
import { letterOf, smsOf, type News } from './wording.ts';

const LOOK_EVERY_MS = 2000;
const SEND_WITHIN_MS = 30_000;

export type NotifierSettings = Pick<
  Settings,
  'smtpUrl' | 'smtpInClear' | 'mailFrom' | 'sms' | 'publicUrl' | 'legacyName'
>;

export type NotifierServices = {
  readonly database: Database;
  readonly settings: NotifierSettings;
  readonly log: Log;
  /** What can be downloaded of a transfer. */
  readonly exportFiles: (transferId: string) => Promise<readonly ExportFile[]>;
};

/** Sends what is queued, until it is disposed of. Without an SMTP server or a gateway for SMS, that way of sending is off. */
export function startNotifier(services: NotifierServices): AsyncDisposable {
  const { settings, log } = services;
  const mail = settings.smtpUrl === undefined ? null : transportTo(settings.smtpUrl, settings.smtpInClear);
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> = Promise.resolve();
  const look = () => {
    round = sendAllDue(services, mail, () => stopped)
      .catch((error: unknown) => log.error({ err: error }, 'notifications could not be looked through'))
      .finally(() => {
        if (!stopped) timer = setTimeout(look, LOOK_EVERY_MS);
      });
  };
  look();
  return {
    [Symbol.asyncDispose]: async () => {
      stopped = true;
      clearTimeout(timer);
      await round;
      mail?.close();
    },
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

async function sendAllDue(
  services: NotifierServices,
  mail: Transporter | null,
  isStopped: () => boolean,
): Promise<void> {
  const { database, settings, log } = services;
  while (!isStopped()) {
    const notification = await claimNotification(database);
    if (notification === null) return;
    const { transferId, kind, attempts } = notification;
    try {
      await send(notification, await newsOf(notification, services), settings, mail);
    } catch (error) {
      log.warn({ err: error, transferId, kind, attempts }, 'a notification was not sent; it is tried again');
      await noteUnsent(database, notification.id);
      continue;
    }
    await noteSent(database, notification.id);
  }
}

async function send(
  notification: Notification,
  news: News,
  settings: NotifierSettings,
  mail: Transporter | null,
): Promise<void> {
  const { contact, transferId, kind } = notification;
  if (v.is(UsPhone, contact)) {
    if (settings.sms !== undefined) await sendSms(settings.sms, contact, smsOf(news), `${kind}.${transferId}`);
    return;
  }
  if (mail === null || settings.mailFrom === undefined) return;
  await mail.sendMail({
    from: settings.mailFrom,
    to: contact,
    ...letterOf(news),
    // The same for each attempt, so that a mailbox can tell a letter that came twice.
    messageId: `<${kind}.${transferId}@${new URL(settings.publicUrl).hostname}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
  });
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

type OutcomeRow = { operation: string; status: string; done: number; failure: string | null; skipped: number };

async function newsOf(notification: Notification, services: NotifierServices): Promise<News> {
  const { database, settings } = services;
  const { transferId, kind } = notification;
  const [transfer] = await database.query<{ destination_provider: string }>(
    'select destination_provider from transfers where id = $1',
    [transferId],
  );
  const rows = await database.query<OutcomeRow>(
    `select operation, status, done, failure,
       case operation when 'emailmigration' then
         coalesce(jsonb_array_length(skipped), 0) + (select count(*)::integer from ledger where state = 'refused' and mailbox_id in
           (select id from ledger_mailboxes where transfer_id = $1))
       else coalesce(jsonb_array_length(skipped), 0) end as skipped
     from operations where transfer_id = $1 order by operation desc`,
    [transferId],
  );
  const taken = (operation: string) =>
    rows.filter((row) => row.operation === operation).reduce((total, row) => total + row.done - row.skipped, 0);
  const [files] = await services.exportFiles(transferId);
  return {
    kind,
    transferId,
    isExport: transfer?.destination_provider === 'file_export',
    messages: taken('emailmigration'),
    contacts: taken('contactsmigration'),
    skipped: rows.reduce((total, row) => total + row.skipped, 0),
    outcomes: rows
      .filter((row) => shownStatusOf(row.status) === 'failed')
      .flatMap((row) => (row.failure === null ? [] : [row.failure])),
    ...(files === undefined ? {} : { filesUntil: files.expires }),
    statusUrl: `${settings.publicUrl}/status?migration_id=${transferId}`,
    legacyName: settings.legacyName,
  };
}
