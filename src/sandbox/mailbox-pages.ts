import { type Context, Hono } from 'hono';
import { html } from 'hono/html';
import type { MailAccount, Mailbox, Message } from './mail-account.ts';
import type { MailServer } from './mail-server.ts';
import {
  type Part,
  bodyText,
  decodedHeader,
  headerLength,
  headerOf,
  leaves,
  readHeaders,
  readMessage,
} from './mime.ts';
import { type Markup, pageHeaders, sandboxPage } from './sandbox-page.ts';

const HEADER_WINDOW = 16 * 1024;
const MESSAGES_PER_PAGE = 50;

/** Read-only webmail: a provider's accounts, an account's mailboxes, a mailbox's messages, one message. */
export function mailboxPages(mail: ReadonlyMap<string, { readonly name: string; readonly server: MailServer }>): Hono {
  const app = new Hono();
  app.get('/:provider/', (c) => {
    const found = mail.get(c.req.param('provider'));
    if (found === undefined) return c.notFound();
    return c.html(accountsPage(c.req.param('provider'), found.name, found.server.accounts()), 200, pageHeaders());
  });
  app.get('/:provider/:email/', async (c) => {
    const found = mail.get(c.req.param('provider'));
    const email = c.req.param('email').toLowerCase();
    if (found === undefined || !found.server.accounts().includes(email)) return c.notFound();
    const page = await accountPage(c, found.name, email, found.server.account(email));
    return page === null ? c.notFound() : c.html(page, 200, pageHeaders());
  });
  return app;
}

function accountsPage(provider: string, name: string, accounts: readonly string[]): Markup {
  return sandboxPage(
    `Sandbox: ${name} mailboxes`,
    html`<h1>${name} mailboxes</h1>
      ${
        accounts.length === 0
          ? html`<p>Nobody has a mailbox here yet. It is made at the first sign-in.</p>`
          : html`<ul>
              ${accounts.map((email) => html`<li><a href="/mail/${provider}/${encodeURIComponent(email)}/">${email}</a></li>`)}
            </ul>`
      }`,
  );
}

async function accountPage(c: Context, name: string, email: string, account: MailAccount): Promise<Markup | null> {
  const mailbox = account.mailbox(c.req.query('mailbox') ?? 'INBOX');
  if (mailbox === undefined) return null;
  const uid = c.req.query('uid');
  const message = uid === undefined ? undefined : mailbox.messages.find((candidate) => candidate.uid === Number(uid));
  if (uid !== undefined && message === undefined) return null;
  const content =
    message === undefined
      ? await listing(account, mailbox, Number(c.req.query('page') ?? 1))
      : await letter(account, mailbox, message);
  const all = [...account.mailboxes.values()].toSorted((a, b) => a.name.localeCompare(b.name));
  const total = all.reduce((sum, { messages }) => sum + messages.length, 0);
  return sandboxPage(
    `Sandbox: ${email} at ${name}`,
    html`<h1>${email}</h1>
      <p>
        ${name}: ${total} ${total === 1 ? 'message' : 'messages'} in ${all.length} mailboxes. Nothing can be changed
        here.
      </p>
      <div class="webmail">
        <nav aria-label="Mailboxes">
          <ul>
            ${all.map(
              (one) =>
                html`<li>
                  <a href="${link(one)}" ${one === mailbox ? html`aria-current="page"` : ''}>${one.name}</a>
                  <span>${one.messages.length}</span>
                </li>`,
            )}
          </ul>
        </nav>
        <section aria-label="${mailbox.name}">${content}</section>
      </div>`,
  );
}

function link({ name }: Mailbox, more: Record<string, string> = {}): string {
  return `?${new URLSearchParams({ mailbox: name, ...more }).toString()}`;
}

async function listing(account: MailAccount, mailbox: Mailbox, wanted: number): Promise<Markup> {
  const { messages } = mailbox;
  const pages = Math.max(1, Math.ceil(messages.length / MESSAGES_PER_PAGE));
  const page = Math.min(Math.max(1, Number.isInteger(wanted) ? wanted : 1), pages);
  const shown = messages.toReversed().slice((page - 1) * MESSAGES_PER_PAGE, page * MESSAGES_PER_PAGE);
  const rows = await Promise.all(
    shown.map(async (message) => {
      const window = await account.read(message, 0, HEADER_WINDOW);
      const headers = readHeaders(window.subarray(0, headerLength(window)));
      const subject = decodedHeader(headerOf(headers, 'subject') ?? '');
      return html`<tr>
        <td>${new Date(message.internalDate).toISOString().slice(0, 10)}</td>
        <td>${decodedHeader(headerOf(headers, 'from') ?? '')}</td>
        <td>
          <a href="${link(mailbox, { uid: String(message.uid) })}">${subject === '' ? '(no subject)' : subject}</a>
          <small>${message.flags.join(' ')}</small>
        </td>
      </tr>`;
    }),
  );
  return html`<h2>${mailbox.name}</h2>
    ${
      rows.length === 0
        ? html`<p>This mailbox is empty.</p>`
        : html`<div class="scroll">
              <table>
                <thead>
                  <tr>
                    <th scope="col">Date</th>
                    <th scope="col">From</th>
                    <th scope="col">Subject</th>
                  </tr>
                </thead>
                <tbody>
                  ${rows}
                </tbody>
              </table>
            </div>
            <p class="actions">
              ${page > 1 ? html`<a href="${link(mailbox, { page: String(page - 1) })}">Newer</a>` : ''}
              <span>Page ${page} of ${pages}</span>
              ${page < pages ? html`<a href="${link(mailbox, { page: String(page + 1) })}">Older</a>` : ''}
            </p>`
    }`;
}

async function letter(account: MailAccount, mailbox: Mailbox, message: Message): Promise<Markup> {
  const bytes = await account.read(message);
  const parsed = readMessage(bytes);
  const field = (name: string) => decodedHeader(headerOf(parsed.headers, name) ?? '');
  const text = bodyText(bytes, parsed, 'text/plain') ?? bodyText(bytes, parsed, 'text/html') ?? '';
  return html`<h2>${field('subject') === '' ? '(no subject)' : field('subject')}</h2>
    <dl>
      <dt>From</dt>
      <dd>${field('from')}</dd>
      <dt>To</dt>
      <dd>${field('to')}</dd>
      <dt>Date</dt>
      <dd>${field('date')}</dd>
      <dt>Arrived</dt>
      <dd>${new Date(message.internalDate).toISOString()}</dd>
      <dt>Flags</dt>
      <dd>${message.flags.join(' ')}</dd>
      <dt>Size</dt>
      <dd>${message.size} octets</dd>
      ${attachments(parsed)}
    </dl>
    <pre>${text}</pre>
    <p><a href="${link(mailbox)}">Back to ${mailbox.name}</a></p>`;
}

function attachments(message: Part): Markup | string {
  const names = leaves(message)
    .map(({ parameters }) => parameters.get('name'))
    .filter((name) => name !== undefined);
  return names.length === 0
    ? ''
    : html`<dt>Attachments</dt>
        <dd>${names.map(decodedHeader).join(', ')}</dd>`;
}
