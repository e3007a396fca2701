import { html } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';

export type Markup = HtmlEscapedString | Promise<HtmlEscapedString>;

export const STYLESHEET = '/sandbox.css';

/** The headers of every page: no scripts, nothing from other origins. `target` is an origin that forms may redirect to. */
export function pageHeaders(target = ''): Record<string, string> {
  return {
    'content-security-policy': `default-src 'none'; style-src 'self'; frame-src 'self'; img-src data:; form-action 'self' ${target}; frame-ancestors 'none'; base-uri 'none'`,
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  };
}

/** A whole page; `narrow` is for the sign-in pages. */
export function sandboxPage(title: string, content: Markup, narrow = false): Markup {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="stylesheet" href="${STYLESHEET}" />
      </head>
      <body>
        <header>
          <a href="/">Sandbox</a>
          <span>An outside world for trying things out. Nothing here is real.</span>
        </header>
        <main class="${narrow ? 'narrow' : 'wide'}">${content}</main>
      </body>
    </html>`;
}
