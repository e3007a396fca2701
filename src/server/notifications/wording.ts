import { displayName } from '../../contract/display-name.ts';
import { readSender } from '../../contract/email-address.ts';
import { counted } from '../counted.ts';
import { MOMENT } from '../moment.ts';
import { breakableHtml, escapeHtml } from '../escape-html.ts';
import type { News, NotificationKind } from './news.ts';
import { DAILY_IS_OFF, takenBackLines, whyItWaits } from './occasions.ts';

/** The news, and the occasion of a message about it. */
export type Notification = News & {
  readonly kind: NotificationKind;
  readonly transferId: string;
  readonly statusUrl: string;
  readonly legacyName: string;
  readonly supportPhone: string;
};

export type Letter = { readonly subject: string; readonly text: string; readonly html: string };

/** The sender's name, if `MAIL_FROM` has only an address. */
export function senderName(legacyName: string): string {
  return `${legacyName} Email Transfer`;
}

/** An address alone gets a name, so that the letter says who it is from. */
export function senderOf(mailFrom: string, legacyName: string): { name: string; address: string } {
  const { name, address } = readSender(mailFrom) ?? { name: '', address: mailFrom };
  return { name: name === '' ? senderName(legacyName) : name, address };
}

/** The result, in one sentence. */
function headline(news: Notification): string {
  const what = whatOf(news);
  switch (news.kind) {
    case 'started':
      return `${what} has started.`;
    case 'finished':
      return `${what} is complete.`;
    case 'attention':
      return `${what} needs your attention.`;
    case 'stopped':
      return `${what} was stopped.`;
    case 'paused':
      return `${what} is waiting for you.`;
    case 'waiting':
      return `${what} is taking a break.`;
    case 'taken back':
      return `${what} ${howTakenBack(news)}.`;
  }
}

/** A remark means that something could not be removed. */
function howTakenBack({ takenBack }: Notification): string {
  if (takenBack === undefined || takenBack.remark === null) return 'was taken back';
  return takenBack.removed === 0 ? 'could not be taken back' : 'was taken back in part';
}

function whatOf(news: Notification): string {
  const { isConfirmed, legacyName } = news;
  // A stranger may read it.
  return isConfirmed ? `Your ${legacyName} email transfer to ${mailboxOf(news)}` : `A ${legacyName} email transfer`;
}

function mailboxOf({ destination: { provider }, legacyName }: Notification): string {
  return provider === 'other' ? 'your new mailbox' : displayName(provider, legacyName);
}

/** The subject and the text of a letter about a transfer. */
export function letterOf(news: Notification): Letter {
  const { legacyName, statusUrl } = news;
  // Keeps a phone number on one line.
  const supportPhone = news.supportPhone.replaceAll(' ', '\u00a0');
  const subject = headline(news).slice(0, -1);
  const route = routeOf(news);
  const details = detailsOf(news);
  const next = nextStepOf(news);
  const help = `Questions? Call ${legacyName} customer support at ${supportPhone}. Please have your transfer ID ready.`;
  const never = 'We never ask for your password by email, text message or phone.';
  const why = `You're getting this because someone asked us to send updates here about a ${legacyName} transfer.`;
  const text = [
    headline(news),
    route.map(([name, value]) => `${name}: ${value}`).join('\n'),
    ...details,
    `What to do next: ${next}`,
    `Check your transfer: ${statusUrl}`,
    help,
    never,
    `${senderName(legacyName)}\n${why}`,
  ].join('\n\n');
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>${escapeHtml(subject)}</title>
<style>@media (prefers-color-scheme:dark){body{background:#1d1925!important;color:#f4f0f8!important}.soft{color:#c6bdd0!important}.button{background:#c9aef8!important;color:#1f0f3a!important}}</style></head>
<body style="margin:0 auto;padding:16px;font-family:sans-serif;font-size:18px;line-height:1.5;background:#ffffff;color:#1b1b1f;max-width:36em;overflow-wrap:anywhere">
<p class="soft" style="color:#5c5c66">${escapeHtml(senderName(legacyName))}</p>
<h1 style="font-size:24px;line-height:1.25">${escapeHtml(headline(news))}</h1>
${route.map(([name, value]) => `<p style="margin:0 0 8px"><span class="soft" style="color:#5c5c66">${escapeHtml(name)}</span><br><strong>${breakableHtml(value)}</strong></p>`).join('\n')}
${details.map((line) => `<p>${escapeHtml(line)}</p>`).join('\n')}
<h2 style="font-size:20px">What to do next</h2>
<p>${escapeHtml(next)}</p>
<p><a class="button" href="${escapeHtml(statusUrl)}" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#4b2a85;color:#ffffff;font-weight:bold;text-decoration:none">Check your transfer</a></p>
<p>${escapeHtml(help)}</p>
<p><strong>${escapeHtml(never)}</strong></p>
<p class="soft" style="font-size:16px;color:#5c5c66">${escapeHtml(why)}</p>
</body></html>
`;
  return { subject, text, html };
}

/** Short enough for two parts of an SMS. */
export function smsOf(news: Notification): string {
  return `${headline(news)} Check it here: ${news.statusUrl} Questions? Call ${news.supportPhone}. We never ask for your password by text or phone.`;
}

function routeOf(news: Notification): (readonly [string, string])[] {
  const { source, destination, isConfirmed, transferId } = news;
  if (!isConfirmed) return [['Transfer ID', transferId]];
  return [
    ['From', source],
    ['To', `${destination.email} (${mailboxOf(news)})`],
    ['Transfer ID', transferId],
  ];
}

function detailsOf(news: Notification): string[] {
  if (!news.isConfirmed) return [];
  if (news.kind === 'started')
    return ["It can take a few minutes or up to a day. We'll let you know when it is done. Nothing is deleted."];
  if (news.kind === 'taken back')
    return [...(news.takenBack === undefined ? [] : takenBackLines(news.takenBack)), ...newMailLines(news)];
  return [
    ...(news.kind === 'waiting' ? waitLines(news) : []),
    ...doneLines(news),
    ...contactsLines(news),
    ...(news.skipped > 0
      ? [
          `${counted(news.skipped, 'item is', 'items are')} not in your new mailbox. The status page tells you why. Nothing was deleted from your ${news.legacyName} mailbox.`,
        ]
      : []),
    ...newMailLines(news),
    ...happenedLines(news),
    ...news.outcomes,
    ...(news.dailyIsOff === true ? [DAILY_IS_OFF] : []),
  ];
}

/** How much was copied. */
function doneLines(news: Notification): string[] {
  const { kind, messages, messagesPresent, messagesTakenBack = 0, messagesMoved, contacts } = news;
  const done = [
    ...(messages > 0 ? [counted(messages, 'message', 'messages')] : []),
    ...(contacts > 0 ? [counted(contacts, 'contact', 'contacts')] : []),
  ].join(' and ');
  const soFar = kind === 'paused' || kind === 'waiting' ? ' so far' : '';
  return [
    ...(done === '' ? [] : [`${done} ${wasOrWere(messages + contacts)} copied${soFar}.`]),
    ...(messagesPresent > 0 ? [`${alreadyThere(messagesPresent, 'message', 'messages')}.`] : []),
    ...(messagesTakenBack > 0 ? [takenBackSince(messagesTakenBack)] : []),
    ...(messagesMoved > 0 ? [movedSince(messagesMoved)] : []),
    ...(kind === 'finished' && isEmpty(news) ? ['There was nothing to copy.'] : []),
  ];
}

/** Whether there was neither mail nor a contact to copy. */
function isEmpty({ messages, messagesPresent, messagesTakenBack = 0, messagesMoved, ...news }: News): boolean {
  const { contacts, contactsPresent, contactsCompleted, skipped } = news;
  const mail = messages + messagesPresent + messagesTakenBack + messagesMoved;
  return mail + contacts + contactsPresent + contactsCompleted + skipped === 0;
}

/** One thing to do, or that there is none. */
function nextStepOf(news: Notification): string {
  const { kind, isConfirmed, legacyName, destination, takenBack, forwarding } = news;
  if (!isConfirmed) return strangersNextStep(kind);
  // The old mailbox is not as it was: that outlives what was stopped or taken back.
  if (forwarding !== undefined && (kind === 'stopped' || kind === 'taken back'))
    return `${takenBack?.remark == null ? '' : 'Open the status page to see what you can do. '}If you want to end forwarding, open the status page and press “Stop forwarding”. You can start again as long as your ${legacyName} mailbox is open.`;
  switch (kind) {
    case 'started':
      return 'Nothing for now. You can close the page and turn off your computer.';
    case 'attention':
      return 'Open the status page. It tells you what stopped and what you can do.';
    case 'stopped':
      return `Nothing. ${hasCopied(news) ? 'What we copied stays in your new mailbox, and your' : 'Your'} ${legacyName} mailbox is as it was. You can start again as long as it is open. Nothing is copied twice.`;
    case 'paused':
      return putRightOf(news);
    case 'waiting':
      return goesOnAt(news);
    case 'taken back':
      return takenBack === undefined || takenBack.remark === null
        ? `Nothing. Your ${legacyName} mailbox is as it was. You can start again as long as it is open.`
        : `Open the status page to see what you can do. Your ${legacyName} mailbox is as it was.`;
    case 'finished':
      return `Sign in to ${mailboxOf(news)} as ${destination.email}.${hasMail(news) ? ' Your mail is there.' : ''}`;
  }
}

/** If not, letters still don't claim that nothing was copied: messages that were on their way may have arrived. */
function hasCopied({ messages, contacts, contactsCompleted }: News): boolean {
  return messages + contacts + contactsCompleted > 0;
}

function hasMail({ messages, messagesPresent }: News): boolean {
  return messages + messagesPresent > 0;
}

/** For a recipient who may be a stranger: no details of the transfer. */
function strangersNextStep(kind: NotificationKind): string {
  switch (kind) {
    case 'waiting':
      return "Nothing for now. We'll carry on as soon as we can. The status page tells you more.";
    case 'paused':
      return 'Open the status page. It tells you what the transfer needs.';
    case 'started':
    case 'finished':
    case 'attention':
    case 'stopped':
    case 'taken back':
      return 'Open the status page. It tells you how the transfer went. If there are files to download, we keep them for a limited time only.';
  }
}

const SAFE = 'Your mail is safe, and nothing was deleted.';

function waitLines({ waiting }: Notification): string[] {
  if (waiting === undefined) return [];
  const { operation, reason } = waiting;
  return [reason === null ? SAFE : `${whyItWaits(operation, reason)} ${SAFE}`];
}

function goesOnAt({ waiting }: Notification): string {
  const until = waiting?.until;
  const when = until === undefined ? 'as soon as we can' : `around ${MOMENT.format(until)}`;
  return `Nothing. We start again ${when}. You can close the page and turn off your computer.`;
}

/** Why the transfer is waiting for its owner. */
function happenedLines({ kind, attention, legacyName }: Notification): string[] {
  if (kind !== 'paused' || attention === undefined) return [];
  const { operation, side, reason } = attention;
  const ofContacts = operation === 'contactsmigration' && side === 'destination';
  const mailbox = side === 'source' ? `${legacyName} mailbox` : 'new mailbox';
  switch (reason) {
    case 'password':
      return [`Your ${mailbox} no longer takes the password that you gave us. ${SAFE}`];
    case 'consent':
      return [
        ofContacts
          ? 'We could not add your contacts, because your new mailbox did not let us. Your mail is not affected.'
          : `Your ${mailbox} does not let us sign in. ${SAFE}`,
      ];
    case 'full':
      return [`Your ${ofContacts ? 'new address book' : mailbox} is full. ${SAFE}`];
    case 'refused':
      return [`The mail server of your ${mailbox} said no to what we asked. ${SAFE}`];
  }
}

/** The one thing to do so that it continues. */
function putRightOf({ attention, legacyName }: Notification): string {
  if (attention === undefined) return 'Open the status page. It tells you what stopped and what you can do.';
  // The mail may go on for longer, or be there already.
  const after = attention.operation === 'contactsmigration' ? 'we stop bringing your contacts' : 'the transfer ends';
  const until = `Please do this by ${MOMENT.format(attention.until)}. After that, ${after}.`;
  return `${actionOf(attention, legacyName)} ${until}`;
}

const GOES_ON = 'The transfer then goes on where it stopped.';

function actionOf({ operation, side, reason }: NonNullable<Notification['attention']>, legacyName: string): string {
  const isOfContacts = operation === 'contactsmigration';
  switch (reason) {
    case 'password':
      return `Open the status page and type the password of your ${side === 'source' ? `${legacyName} mailbox` : 'new mailbox'}. If you changed it, type the new one. ${GOES_ON}`;
    case 'consent':
      return isOfContacts
        ? 'Open the status page and press “Allow contacts”. Then we add your contacts to your new address book.'
        : `Open the status page and sign in to your new mailbox again. ${GOES_ON}`;
    case 'full':
      return `Make room in your new ${isOfContacts ? 'address book' : 'mailbox'}. Then open the status page and press “Put it right”. ${GOES_ON}`;
    case 'refused':
      return `Open the status page and press “Put it right”, so that we try again. ${GOES_ON}`;
  }
}

const DAY = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'America/Los_Angeles' });

function alreadyThere(count: number, one: string, many: string): string {
  return `${counted(count, one, many)} ${wasOrWere(count)} already there`;
}

function takenBackSince(count: number): string {
  return `${counted(count, 'message', 'messages')} ${wasOrWere(count)} there before, and ${count === 1 ? 'has' : 'have'} been taken back since then.`;
}

function movedSince(count: number): string {
  const [have, them] = count === 1 ? ['has', 'it'] : ['have', 'them'];
  return `${counted(count, 'message', 'messages')} ${wasOrWere(count)} there before, and ${have} been moved or deleted since then. We did not copy ${them} again.`;
}

function contactsLines({ contactsPresent, contactsCompleted, remarks }: Notification): string[] {
  const present = contactsPresent + contactsCompleted;
  const toSome = contactsCompleted === present ? '' : ` to ${NUMBER.format(contactsCompleted)} of them`;
  return [
    ...(present === 0
      ? []
      : [
          `${alreadyThere(present, 'contact', 'contacts')}.${contactsCompleted === 0 ? '' : ` We added what was missing${toSome} and changed nothing else.`}`,
        ]),
    ...(remarks ? ['Some contacts have notes from us. You can read them on the status page.'] : []),
  ];
}

/** Whether new mail is forwarded; nothing to say if the address stays the same. */
function newMailLines({ kind, source, destination, forwarding, dailyUntil, legacyName }: Notification): string[] {
  if (forwarding !== undefined)
    return [`Since ${DAY.format(forwarding.since)}, new mail to your ${legacyName} address goes to ${forwarding.to}.`];
  if (kind !== 'finished' || destination.email === source) return [];
  // As on the page, midnight counts as the end of the previous day.
  if (dailyUntil !== undefined)
    return [
      `We bring new mail from your ${legacyName} mailbox once a day, until ${DAY.format(dailyUntil.getTime() - 1)}. Please tell people your new address before then.`,
    ];
  return [`New mail to your ${legacyName} address does not follow you. Please tell people your new address.`];
}

const NUMBER = new Intl.NumberFormat('en-US');

function wasOrWere(count: number): string {
  return count === 1 ? 'was' : 'were';
}
