import { readFileSync } from 'node:fs';
import { Hono } from 'hono';
import { html } from 'hono/html';
import * as v from 'valibot';
import { isOauthProvider } from '../contract/provider-name.ts';
import { bearer } from './bearer.ts';
import { DESTINATIONS } from './destinations.ts';
import type { MailServer } from './mail-server.ts';
import { mailboxPages } from './mailbox-pages.ts';
import type { Outbox, SentItem } from './outbox.ts';
import { type Markup, pageHeaders, sandboxPage, STYLESHEET } from './sandbox-page.ts';
import type { Subscriber } from './subscribers.ts';

/** The mail servers, keyed by the path segment of their pages. */
export type MailServers = ReadonlyMap<string, { readonly name: string; readonly server: MailServer }>;

export type SandboxWebOptions = {
  readonly subscribers: readonly Subscriber[];
  readonly publicUrl: string;
  readonly outbox: Outbox;
  readonly smsToken: string;
  readonly mail: MailServers;
  readonly otherHost: string;
};

const PLAIN_PAGES = {
  '/help': ['Help', 'This page stands for the help site of the product.'],
  '/privacy': ['Privacy', 'This page stands for the privacy policy. The sandbox keeps what you type on this machine.'],
  '/terms': ['Terms of service', 'This page stands for the terms of service. There are none for the sandbox.'],
} as const;

const Sms = v.object({ to: v.pipe(v.string(), v.maxLength(32)), text: v.pipe(v.string(), v.maxLength(2000)) });

/** The pages that show what is in the sandbox, and the gateway for text messages. */
export function makeSandboxWeb(options: SandboxWebOptions): Hono {
  const { outbox, smsToken, mail } = options;
  const app = new Hono();
  const stylesheet = readFileSync(new URL('sandbox.css', import.meta.url));
  app.get(STYLESHEET, (c) => c.body(stylesheet, 200, { 'content-type': 'text/css; charset=utf-8' }));
  app.get('/', (c) => c.html(homePage(options), 200, pageHeaders()));
  for (const [path, [title, text]] of Object.entries(PLAIN_PAGES))
    app.get(path, (c) =>
      c.html(
        sandboxPage(
          title,
          html`<h1>${title}</h1>
            <p>${text}</p>`,
        ),
        200,
        pageHeaders(),
      ),
    );

  app.get('/outbox', (c) => c.html(outboxPage(outbox.items()), 200, pageHeaders()));
  app.get('/outbox.json', (c) => c.json({ items: outbox.items() }, 200, { 'cache-control': 'no-store' }));
  app.get('/outbox/:id/html', (c) => {
    const item = outbox.items().find(({ id }) => id === c.req.param('id'));
    if (item?.kind !== 'mail' || item.html === undefined) return c.notFound();
    return c.html(item.html, 200, {
      ...pageHeaders(),
      'content-security-policy':
        "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'",
    });
  });
  app.post('/sms', bearer(smsToken), async (c) => {
    const sms = v.safeParse(Sms, await c.req.json().catch(() => null));
    if (!sms.success) return c.json({ error: 'INVALID_REQUEST', message: 'A number and a text are needed.' }, 400);
    outbox.takeSms(sms.output.to, sms.output.text);
    return c.json({ ok: true });
  });
  app.route('/mail', mailboxPages(mail));
  app.notFound((c) =>
    c.html(
      sandboxPage(
        'Not found',
        html`<h1>Not found</h1>
          <p><a href="/">To the start</a></p>`,
      ),
      404,
      pageHeaders(),
    ),
  );
  return app;
}

function homePage({ subscribers, publicUrl, mail, otherHost }: SandboxWebOptions): Markup {
  return sandboxPage(
    'San Bruno sandbox',
    html`<h1>The outside world of the transfer tool</h1>
      <p>
        These are the mail servers, sign-in pages and mailboxes that the tool talks to on this machine. Start at the
        tool itself: <a href="${publicUrl}/">${publicUrl}</a>
      </p>
      <h2>Subscribers</h2>
      <p>Sign in to the tool as one of them.</p>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Email</th>
              <th scope="col">Password</th>
              <th scope="col">What it shows</th>
            </tr>
          </thead>
          <tbody>
            ${subscribers.map(
              ({ email, password, about }) =>
                html`<tr>
                  <td><code>${email}</code></td>
                  <td><code>${password}</code></td>
                  <td>${about}</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
      <h2>Where mail can go</h2>
      <ul>
        ${[...mail].map(
          ([key, { name }]) => html`<li><a href="/mail/${key}/">${name}</a>: ${howToSignIn(key, otherHost)}</li>`,
        )}
      </ul>
      <h2>What the tool has sent</h2>
      <p><a href="/outbox">Outbox</a>: notification mails and text messages. Nothing leaves this machine.</p>
      <p>
        Any address whose domain ends in <code>.example</code>, or at a well-known one such as <code>gmail.com</code>,
        can be notified. No other domain exists here, nor one that begins with <code>no-such</code>.
      </p>`,
  );
}

function howToSignIn(key: string, otherHost: string): Markup {
  if (key === 'yahoo')
    return html`the address and password of a subscriber who has pressed “Go to Yahoo Mail”, or any address at
      <code>yahoo.example</code> with the password <code>sandbox</code>.`;
  if (isOauthProvider(key)) return html`any address, with the password <code>sandbox</code>.`;
  return html`any address at <code>mail.example</code>, with the password <code>sandbox</code> and the custom IMAP host
    <code>${otherHost}</code>.`;
}

function outboxPage(items: readonly SentItem[]): Markup {
  const list = items.map((item) =>
    item.kind === 'sms'
      ? html`<article>
          <h2>Text message to ${item.to}</h2>
          <p class="hint"><time datetime="${item.received}">${item.received}</time></p>
          <pre>${item.text}</pre>
        </article>`
      : html`<article>
          <h2>${item.subject}</h2>
          <p class="hint">
            From ${item.from} to ${item.to.join(', ')}, <time datetime="${item.received}">${item.received}</time>
          </p>
          <pre>${item.text}</pre>
          ${
            item.html === undefined
              ? ''
              : html`<details>
                  <summary>As a web page</summary>
                  <iframe sandbox src="/outbox/${item.id}/html" title="${item.subject}"></iframe>
                </details>`
          }
        </article>`,
  );
  return sandboxPage(
    'Sandbox: outbox',
    html`<h1>Outbox</h1>
      ${items.length === 0 ? html`<p>Nothing has been sent yet.</p>` : list}`,
  );
}

export function mailServersOf(servers: readonly (readonly [key: string, server: MailServer])[]): MailServers {
  return new Map(
    servers.map(([key, server]) => [
      key,
      { name: isOauthProvider(key) ? DESTINATIONS[key].name : 'Other (mail.example)', server },
    ]),
  );
}
