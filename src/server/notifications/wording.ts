import type { News, NotificationKind } from './news.ts';

/** The news, and what a message about them says of the occasion. */
export type Notification = News & {
  readonly kind: NotificationKind;
  readonly transferId: string;
  readonly statusUrl: string;
  readonly legacyName: string;
};

export type Letter = { readonly subject: string; readonly text: string; readonly html: string };

/** The result, in one sentence. */
export function headline({ kind, isExport, legacyName }: Notification): string {
  const what = isExport ? `export of your ${legacyName} email data` : `transfer of your ${legacyName} email data`;
  switch (kind) {
    case 'started':
      return `The ${what} has started.`;
    case 'finished':
      return `The ${what} is complete.`;
    case 'attention':
      return `The ${what} needs your attention.`;
  }
}

export function letterOf(news: Notification): Letter {
  const lines = [headline(news), ...detailsOf(news)];
  const text = [
    ...lines,
    `Transfer ID: ${news.transferId}`,
    `Status: ${news.statusUrl}`,
    'You receive this message because this address was given for notifications.',
  ].join('\n\n');
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escape(headline(news))}</title></head>
<body style="font-family:sans-serif;font-size:16px;line-height:1.5;color:#1b1b1f;max-width:36em">
${lines.map((line) => `<p>${escape(line)}</p>`).join('\n')}
<p>Transfer ID: <strong style="font-family:monospace">${escape(news.transferId)}</strong></p>
<p><a href="${escape(news.statusUrl)}">See the status of your transfer</a></p>
<p style="font-size:13px;color:#5c5c66">You receive this message because this address was given for notifications.</p>
</body></html>
`;
  return { subject: headline(news), text, html };
}

/** Short enough for two parts of an SMS. */
export function smsOf(news: Notification): string {
  return `${headline(news)} Transfer ID: ${news.transferId}. ${news.statusUrl}`;
}

function detailsOf(news: Notification): string[] {
  if (news.kind === 'started')
    return ['It takes from minutes to a full day. You can close the page; we write again when it has ended.'];
  const verb = news.isExport ? 'exported' : 'copied';
  const done = [
    ...(news.messages > 0 ? [counted(news.messages, 'message', 'messages')] : []),
    ...(news.contacts > 0 ? [counted(news.contacts, 'contact', 'contacts')] : []),
  ].join(' and ');
  return [
    ...(done === '' ? [] : [`${done} ${wasOrWere(news.messages + news.contacts)} ${verb}.`]),
    ...contactsLines(news),
    ...(news.skipped > 0
      ? [
          `${news.skipped} could not be ${verb}; the status page names them. They are still in your ${news.legacyName} mailbox.`,
        ]
      : []),
    ...forwardingLines(news),
    ...news.outcomes,
    ...news.files
      .slice(0, 1)
      .map(
        ({ expires }) =>
          `You can download your files from the status page until ${expires.slice(0, 10)}; then they are deleted. The page may ask for your ${news.legacyName} email address and password.`,
      ),
  ];
}

function alreadyThere(count: number): string {
  return `${counted(count, 'contact', 'contacts')} ${wasOrWere(count)} already there`;
}

function contactsLines({ contactsPresent, contactsCompleted, remarks }: Notification): string[] {
  return [
    ...(contactsPresent > 0 ? [`${alreadyThere(contactsPresent)}.`] : []),
    ...(contactsCompleted > 0
      ? [`${alreadyThere(contactsCompleted)}. We added what was missing and changed nothing else.`]
      : []),
    ...(remarks ? ['Some contacts have notes from us. You can read them on the status page.'] : []),
  ];
}

const DAY = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'America/Los_Angeles' });

function forwardingLines({ forwarding, legacyName }: Notification): string[] {
  if (forwarding === undefined) return [];
  return [`New mail to your ${legacyName} address goes to ${forwarding.to} since ${DAY.format(forwarding.since)}.`];
}

const PLURAL = new Intl.PluralRules('en-US');
const NUMBER = new Intl.NumberFormat('en-US');

function counted(count: number, one: string, other: string): string {
  return `${NUMBER.format(count)} ${PLURAL.select(count) === 'one' ? one : other}`;
}

function wasOrWere(count: number): string {
  return PLURAL.select(count) === 'one' ? 'was' : 'were';
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"]/g, (sign) => `&#${sign.codePointAt(0)};`);
}
