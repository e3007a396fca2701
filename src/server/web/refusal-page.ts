import { createHash } from 'node:crypto';
import { UNAVAILABLE_STATUS } from '../../contract/failure-code.ts';
import type { Settings } from '../../contract/settings.ts';
import { escapeHtml } from '../escape-html.ts';
import type { Refusal } from './refusal.ts';

const STYLE =
  'body{font:18px/1.5 sans-serif;max-width:34em;margin:10vh auto;padding:0 1em}h1{font-size:1.3em;line-height:1.25}';
const STYLE_DIGEST = createHash('sha256').update(STYLE).digest('base64');

/** No scripts run on the page, and nothing is fetched for it. */
export const REFUSAL_PAGE_POLICY = `default-src 'none'; style-src 'sha256-${STYLE_DIGEST}'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'`;

/** The page for people who have followed a link to an address that refuses them. */
export function refusalPage(
  { status, message, retryAfter }: Refusal,
  { legacyName, supportPhone }: Pick<Settings, 'legacyName' | 'supportPhone'>,
): string {
  const name = escapeHtml(`${legacyName} Email Data Transfer Tool`);
  // The specification's text for an unavailable call doesn't say so.
  const safe = status === UNAVAILABLE_STATUS ? '<p>Your mail is safe.</p>\n' : '';
  const again = retryAfter !== undefined || status >= 500 ? '<p><a href="">Try again</a></p>\n' : '';
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>${name}</title><style>${STYLE}</style></head>
<body><main><h1>${name}</h1>
<p>${escapeHtml(message)}</p>
${safe}${again}<p><a href="/">Go to the first page</a></p>
<p>Do you need help? Call us at ${escapeHtml(supportPhone)}.</p>
</main></body></html>
`;
}
