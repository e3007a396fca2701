import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Page } from 'playwright';
import { readSettings } from '../../src/contract/settings.ts';
import { securityHeaders } from '../../src/server/web/headers.ts';
import { readPortalFiles, servePortal } from '../../src/server/web/portal-files.ts';
import { PAGES } from './product.ts';
import { run } from './run.ts';

const ROOT = join(import.meta.dirname, '../..');
const SETTINGS = { ...PAGES, SANDBOX: 'on' };
type Environment = Readonly<Record<string, string>>;
const build = (settings: Environment) =>
  `import { buildPortal } from './src/build-portal.ts'; process.stdout.write('\\n' + await buildPortal(${JSON.stringify(settings)}));`;

export type PortalAlone = AsyncDisposable & { readonly url: string; readonly wire: Wire };
type Raw = { readonly Bindings: HttpBindings };

/** Serves the built portal with the product's own headers, but no server behind it: a script answers its calls. */
export async function servePortalAlone(environment: Environment = {}): Promise<PortalAlone> {
  const settings = { ...SETTINGS, ...environment };
  const files = await readPortalFiles(await builtPortal(settings));
  const { wire, handle } = scriptedCalls();
  const app = new Hono<Raw>();
  app.use(securityHeaders(readSettings(settings)));
  app.use((c, next) => {
    const { socket } = c.env.incoming;
    requests.set(socket, requestsOn(socket) + 1);
    return next();
  });
  app.all('/api/*', handle);
  app.get('*', (c) => servePortal(c, files) ?? c.text('Not found', 404));
  const server = createAdaptorServer({ fetch: app.fetch });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    wire,
    async [Symbol.asyncDispose]() {
      if ('closeAllConnections' in server) server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The folder of the portal, built for tests. */
export async function builtPortal(settings: Environment = SETTINGS): Promise<string> {
  const said = await run(process.execPath, ['--input-type=module', '-e', build(settings)], { cwd: ROOT });
  return said.toString().split('\n').at(-1) ?? '';
}

export type Asked = {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
};
/** `silence` never answers, `drop` closes the connection. */
export type Answer =
  | { readonly status?: number; readonly json?: unknown; readonly text?: string; readonly type?: string }
  | 'silence'
  | 'drop';
type Script = Answer | ((asked: Asked) => Answer | Promise<Answer>);

export type Wire = {
  /** Every call, in order. */
  readonly asked: Asked[];
  /** From now on, calls to this path get this answer. */
  readonly answer: (path: string, script: Script) => void;
  /** Restores all good answers, and clears `asked`. */
  readonly reset: () => void;
  readonly askedFor: (path: string) => readonly Asked[];
};

export const TRANSFER_ID = '0123456789abcdef0123456789abcdef';
const OK = { json: { ok: true } };

/** The status of an export whose files can be fetched. */
export const FINISHED_EXPORT = {
  json: {
    emailmigration: { status: 'completed', done: 3, total: 3, finished: '2025-11-01T10:00:00.000Z' },
    files: 'there',
    exports: [
      {
        url: `/api/exports/${TRANSFER_ID}/mail.zip`,
        name: 'mail.zip',
        size: 4096,
        sha256: 'f'.repeat(64),
        expires: '2025-11-08T10:00:00.000Z',
      },
    ],
  },
};

/** The answers of a healthy server. */
const GOOD: Readonly<Record<string, Script>> = {
  '/api/validate-token/': OK,
  '/api/capabilities/': ({ body }) => ({ json: capabilitiesOf((body as { email: string }).email) }),
  '/api/validate/': OK,
  '/api/v2/sign-out/': OK,
  '/api/v2/sign-ins/': { json: { others: [] } },
  '/api/validate-imap/': OK,
  '/api/load/': { json: { jobid: TRANSFER_ID } },
  '/api/v2/status/': { json: { emailmigration: { status: 'inprogress', done: 3, total: 12, bytes: 4096 } } },
  '/api/v2/status/events/': 'silence',
  '/api/jobs-by-email/': { json: { [TRANSFER_ID]: '2025-11-01T10:00:00.000Z' } },
  '/api/v2/domain-validation/': { json: { valid: true } },
  '/api/v2/phone-number-validation/': { json: { valid: true } },
  '/api/v2/san-bruno-create-account/': OK,
  '/api/v2/san-bruno-set-migration-started/': OK,
  '/api/v2/support-form/': OK,
};

function capabilitiesOf(email: string) {
  const domain = email.slice(email.lastIndexOf('@') + 1);
  const both = ['emailmigration', 'contactsmigration'];
  if (/^(?:sanbrunocable|sanbruno|sbcable)\.example$/.test(domain))
    return { allowed_operations: both, provider: 'sanbruno', auth: 'other' };
  if (domain === 'gmail.com') return { allowed_operations: both, provider: 'Gmail', auth: 'oauth' };
  if (domain === 'outlook.com') return { allowed_operations: both, provider: 'Microsoft', auth: 'oauth' };
  return { allowed_operations: ['emailmigration'], provider: 'other', auth: 'other' };
}

/** A request handler that answers each of the pages' calls by a script, and the control over that script. */
function scriptedCalls(): { readonly wire: Wire; readonly handle: (c: Context<Raw>) => Promise<Response> } {
  const asked: Asked[] = [];
  let scripts = new Map(Object.entries(GOOD));
  const wire: Wire = {
    asked,
    answer: (path, script) => scripts.set(path, script),
    reset: () => {
      scripts = new Map(Object.entries(GOOD));
      asked.length = 0;
    },
    askedFor: (path) => asked.filter((call) => call.path === path),
  };
  const handle = async (c: Context<Raw>): Promise<Response> => {
    const { socket } = c.env.incoming;
    const url = new URL(c.req.url);
    const script = scripts.get(url.pathname) ?? { status: 404, json: { error: 'GENERAL_ERROR' } };
    // Browsers repeat a request by themselves when a connection that they have used before is closed.
    const isAskedAgain = script === 'drop' && requestsOn(socket) > 1;
    const text = await c.req.text();
    const call = {
      method: c.req.method,
      path: url.pathname,
      query: url.searchParams,
      body: text === '' ? undefined : (JSON.parse(text) as unknown),
      headers: c.req.header(),
    };
    if (!isAskedAgain) asked.push(call);
    if (call.headers['sec-fetch-mode'] === 'navigate') return c.html('<title>Elsewhere</title><h1>A provider</h1>');
    const answer = typeof script === 'function' ? await script(call) : script;
    if (answer === 'drop') socket.destroy();
    if (answer === 'drop' || answer === 'silence') return RESPONSE_ALREADY_SENT;
    return c.body(answer.text ?? JSON.stringify(answer.json), (answer.status ?? 200) as ContentfulStatusCode, {
      'content-type': answer.type ?? 'application/json',
    });
  };
  return { wire, handle };
}

const requests = new WeakMap<Socket, number>();

function requestsOn(socket: Socket): number {
  return requests.get(socket) ?? 0;
}

/** Answers for other hosts with a page that only says where one is. @returns their addresses, as they are visited */
export async function pagesElsewhere(page: Page): Promise<readonly string[]> {
  const gone: string[] = [];
  await page.route(/^https:/, (route) => {
    gone.push(route.request().url());
    return route.fulfill({ contentType: 'text/html', body: '<title>Elsewhere</title><h1>Elsewhere</h1>' });
  });
  return gone;
}

export const SUBSCRIBER = { email: 'maria.keller@sanbrunocable.example', password: 'garden-2005' } as const;

const signedIn = {
  srcAccount: JSON.stringify({ ...SUBSCRIBER, provider: 'sanbruno' }),
  operations: JSON.stringify(['emailmigration', 'contactsmigration']),
};
const destination = (email: string, provider: string, rest: object = { tokenId: TRANSFER_ID }) =>
  JSON.stringify({ email, provider, ...rest });

/** The contents of session storage at points of the journey, under the keys of `portal.md` §3. */
export const SESSIONS = {
  nobody: {},
  signedIn,
  move: { ...signedIn, dstAccount: destination(SUBSCRIBER.email, 'yahoo'), checkSanBrunoOnOauthCallback: 'true' },
  gmail: { ...signedIn, dstAccount: destination('maria@gmail.com', 'google'), googleTermsAccepted: 'true' },
  choosingMove: {
    ...signedIn,
    dstAccount: destination('', 'yahoo', {}),
    checkSanBrunoOnOauthCallback: 'true',
  },
  choosingGmail: { ...signedIn, dstAccount: destination('', 'google', {}), googleTermsAccepted: 'true' },
  gmailWithoutTerms: { ...signedIn, dstAccount: destination('maria@gmail.com', 'google') },
  other: {
    ...signedIn,
    dstAccount: destination('maria@mail.example', 'other', { password: 'sandbox' }),
    allowContactsMigration: 'false',
  },
  download: {
    ...signedIn,
    dstAccount: destination('', 'file_export', {}),
    emailExportType: 'mbox',
    contactsExportType: 'vcf',
  },
  status: { emailHash: 'a'.repeat(64) },
} as const;
export type SessionName = keyof typeof SESSIONS;

/** Opens an address as a visitor with this session. */
export async function enter(page: Page, url: string, path: string, session: SessionName = 'nobody'): Promise<void> {
  // A page of the same origin without the portal, which would overwrite this session with its own.
  const nothing = `${url}/nothing.txt`;
  if (page.url() !== nothing) await page.goto(nothing);
  await page.evaluate((values: Record<string, string>) => {
    localStorage.clear();
    sessionStorage.clear();
    for (const [key, value] of Object.entries(values)) sessionStorage.setItem(key, value);
  }, SESSIONS[session]);
  await page.goto(`${url}${path}`);
  await page.locator('h1').first().waitFor();
}
