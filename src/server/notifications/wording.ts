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
    ...downloadsOf(news).flatMap(({ intro, files }) => [intro, ...files.map(({ name, url }) => `${name}:\n${url}`)]),
    `Transfer ID: ${news.transferId}`,
    `Status: ${news.statusUrl}`,
    'You receive this message because this address was given for notifications.',
  ].join('\n\n');
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escape(headline(news))}</title></head>
<body style="font-family:sans-serif;font-size:16px;line-height:1.5;color:#1b1b1f;max-width:36em">
${lines.map((line) => `<p>${escape(line)}</p>`).join('\n')}
${downloadsOf(news)
  .map(
    ({ intro, files }) =>
      `<p>${escape(intro)}</p>\n<ul>\n${files.map(({ name, url }) => `<li><a href="${escape(url)}">${escape(name)}</a></li>`).join('\n')}\n</ul>`,
  )
  .join('\n')}
<p>Transfer ID: <strong style="font-family:monospace">${escape(news.transferId)}</strong></p>
<p><a href="${escape(news.statusUrl)}">See the status of your transfer</a></p>
<p style="font-size:13px;color:#5c5c66">You receive this message because this address was given for notifications.</p>
</body></html>
`;
  return { subject: headline(news), text, html };
}

type Downloads = { readonly intro: string; readonly files: News['files'] };

function downloadsOf({ files }: Notification): Downloads[] {
  const [first] = files;
  if (first === undefined) return [];
  const until = first.expires.slice(0, 10);
  return [{ intro: `Download your files until ${until}; then they are deleted. The links are for you alone:`, files }];
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
    ...(news.messages > 0 ? [`${news.messages} ${news.messages === 1 ? 'message' : 'messages'}`] : []),
    ...(news.contacts > 0 ? [`${news.contacts} ${news.contacts === 1 ? 'contact' : 'contacts'}`] : []),
  ].join(' and ');
  return [
    ...(done === '' ? [] : [`${done} were ${verb}.`]),
    ...(news.skipped > 0
      ? [`${news.skipped} could not be ${verb}; the status page names them. They are still in your current mailbox.`]
      : []),
    ...news.outcomes,
  ];
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"]/g, (sign) => `&#${sign.codePointAt(0)};`);
}
