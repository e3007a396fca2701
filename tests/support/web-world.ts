import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SMTPServer } from 'smtp-server';
import { type OauthProvider } from '../../src/contract/provider.ts';
import { OAUTH_PROVIDERS } from '../../src/contract/provider-name.ts';
import { readSettings, type Environment, type Settings } from '../../src/contract/settings.ts';
import { startMailServer } from '../../src/sandbox/mail-server.ts';
import { openLog } from '../../src/server/log.ts';
import type { JobQueue } from '../../src/server/worker/queue.ts';
import type { Services } from '../../src/server/web/services.ts';
import type { Database } from '../../src/server/store/database.ts';
import type { Safe } from '../../src/server/store/safe.ts';
import { startWeb } from '../../src/server/web/listen.ts';
import { openWeb } from '../../src/server/web/services.ts';
import { startDnsServer, type DnsServer } from './dns-server.ts';
import { FRESH, type TestAddress } from './fresh-database.ts';
import { freePort } from './free-port.ts';
import { CLIENT, startSignInServer, type SignInServer } from './sign-in-server.ts';
import { openWebServices } from './web-services.ts';

export const SCOPES: Record<OauthProvider, readonly string[]> = {
  google: ['https://mail.google.com/', 'https://www.googleapis.com/auth/contacts'],
  yahoo: ['mail-w', 'sdct-w'],
  office365: ['https://outlook.office.com/IMAP.AccessAsUser.All', 'https://graph.microsoft.com/Contacts.ReadWrite'],
  aol: ['mail-w', 'sdct-w'],
};

export type ProvisioningRequest = {
  readonly path: string;
  readonly authorization: string;
  /** `Idempotency-Key` */
  readonly key: unknown;
  readonly body: unknown;
};
/** `raw` is without quoted-printable's soft line breaks, which depend on the length of dates. */
export type SentMail = { readonly to: readonly string[]; readonly from: string; readonly raw: string };

/** The web server on a port of its own, and everything that it talks to, over real protocols. */
export type WebWorld = AsyncDisposable & {
  readonly url: string;
  readonly settings: Settings;
  /** The environment that the settings were read from, for other processes. */
  readonly environment: Environment;
  readonly services: Services;
  readonly queue: JobQueue;
  readonly safe: Safe;
  readonly database: Database;
  readonly dns: DnsServer;
  /** The passwords that the mail server accepts. */
  readonly passwords: Map<string, string>;
  /** The addresses that have signed in, or tried to, at the mail server. */
  readonly signIns: string[];
  /** `host:port` of the mail server, by a name in `TRUSTED_MAIL_HOSTS`. */
  readonly trustedImap: string;
  readonly provisioning: { readonly requests: ProvisioningRequest[]; answer: { status: number; body: unknown } };
  readonly outbox: SentMail[];
  readonly providers: Partial<Record<OauthProvider, SignInServer>>;
  readonly logLines: string[];
  /** Moves the server's clock forward. */
  readonly advance: (ms: number) => void;
  readonly post: (path: string, body: unknown, headers?: Record<string, string>) => Promise<Answer>;
  readonly get: (path: string, headers?: Record<string, string>) => Promise<Answer>;
};

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: unknown;
};

type Options = {
  readonly environment?: Environment;
  readonly providers?: readonly OauthProvider[];
  readonly tokenLife?: number;
  readonly portalFolder?: string;
  /** Whether the server's clock moves by `advance` only, so that no limit is refilled while a slow machine counts. */
  readonly clockStands?: true;
  /** A fresh one by default. */
  readonly address?: TestAddress;
  /** 32 bytes; random by default. */
  readonly key?: Uint8Array;
  /** Whether the mail server accepts an access token; by default, it accepts none. */
  readonly takesToken?: (email: string, token: string) => boolean;
};

export const LEGACY_DOMAIN = 'sanbrunocable.example';
const TRUSTED_NAME = 'imap.trusted.example';

export async function openWebWorld(options: Options = {}): Promise<WebWorld> {
  await using opening = new AsyncDisposableStack();
  const port = await freePort();
  const publicUrl = `http://localhost:${port}`;
  const passwords = new Map<string, string>();
  const signIns: string[] = [];

  const folder = await mkdtemp(join(tmpdir(), 'web-world-'));
  opening.defer(() => rm(folder, { recursive: true, force: true }));
  const mail = opening.use(
    await startMailServer({
      greeting: 'Ready',
      delimiter: '/',
      folder: join(folder, 'mail'),
      port: 0,
      seed: () => [{ name: 'INBOX' }],
      door: {
        password: (email, password) => {
          signIns.push(email);
          return passwords.get(email) === password;
        },
        token: options.takesToken ?? (() => false),
      },
    }),
  );
  const dns = opening.use(await startDnsServer({ [TRUSTED_NAME]: { a: ['127.0.0.1'] } }));
  const provisioning = await startProvisioning(opening);
  const { outbox, smtpPort } = await startSmtp(opening);
  const providers: Partial<Record<OauthProvider, SignInServer>> = {};
  for (const provider of options.providers ?? [])
    providers[provider] = opening.use(
      await startSignInServer({
        provider,
        redirectUri: `${publicUrl}/api/oauth/callback/${provider}/`,
        scopes: SCOPES[provider],
        ...(options.tokenLife === undefined ? {} : { tokenLife: options.tokenLife }),
      }),
    );

  const trustedImap = `${TRUSTED_NAME}:${mail.port}`;
  const environment: Environment = {
    PORT: String(port),
    DATA_DIR: folder,
    PUBLIC_URL: publicUrl,
    LEGACY_IMAP_URL: `imap://127.0.0.1:${mail.port}`,
    LEGACY_CARDDAV_URL: 'http://127.0.0.1:9/{email}/',
    TRUSTED_MAIL_HOSTS: `127.0.0.1:${mail.port},${trustedImap}`,
    DNS_SERVERS: dns.address,
    PROVISIONING_URL: provisioning.url,
    PROVISIONING_TOKEN: 'provisioning-token-canary',
    SMTP_URL: `smtp://127.0.0.1:${smtpPort}`,
    MAIL_FROM: 'no-reply@sanbruno.example',
    SUPPORT_EMAIL: 'support@operator.example',
    LOG_LEVEL: 'debug',
    ...Object.fromEntries(
      OAUTH_PROVIDERS.map((name) => [`${name.toUpperCase()}_IMAP_URL`, `imap://127.0.0.1:${mail.port}`]),
    ),
    PROXIES: '1',
    ...providerEnvironment(providers),
    ...options.environment,
  };
  const settings = readSettings(environment);

  const logLines: string[] = [];
  const clock = { ahead: 0 };
  const begun = Date.now();
  const now = () => (options.clockStands === true ? begun : Date.now()) + clock.ahead;
  const log = openLog(settings.logLevel, { write: (line) => void logLines.push(line) });
  const { address = FRESH, key = randomBytes(32) } = options;
  const { services, queue, safe } = opening.use(await openWebServices({ settings, address, key, log, now }));
  const { database } = services;
  opening.use(
    await startWeb(openWeb(services), { host: '127.0.0.1', port, portalFolder: options.portalFolder ?? null }),
  );
  const url = publicUrl;
  const lifetime = opening.move();

  return {
    url,
    settings,
    environment,
    services,
    queue,
    safe,
    database,
    dns,
    passwords,
    signIns,
    trustedImap,
    provisioning,
    outbox,
    providers,
    logLines,
    advance: (ms) => {
      clock.ahead += ms;
    },
    post: async (path, body, headers = {}) =>
      read(
        await fetch(`${url}${path}`, {
          method: 'POST',
          redirect: 'manual',
          headers: { 'content-type': 'application/json', ...headers },
          body: typeof body === 'string' ? body : JSON.stringify(body),
        }),
      ),
    get: async (path, headers = {}) => read(await fetch(`${url}${path}`, { redirect: 'manual', headers })),
    [Symbol.asyncDispose]: () => lifetime.disposeAsync(),
  };
}

async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? (JSON.parse(text) as unknown) : undefined,
  };
}

function providerEnvironment(providers: WebWorld['providers']): Environment {
  return Object.fromEntries(
    Object.entries(providers).flatMap(([provider, { issuer }]) => {
      const name = provider.toUpperCase();
      return [
        [`${name}_CLIENT_ID`, CLIENT.id],
        [`${name}_CLIENT_SECRET`, CLIENT.secret],
        [`${name}_ISSUER`, issuer],
      ];
    }),
  );
}

async function startProvisioning(opening: AsyncDisposableStack) {
  const requests: ProvisioningRequest[] = [];
  const service = { url: '', requests, answer: { status: 200, body: {} as unknown } };
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const { authorization = '', 'idempotency-key': key } = request.headers;
      requests.push({ path: request.url ?? '', authorization, key, body });
      response.writeHead(service.answer.status, { 'content-type': 'application/json' });
      return response.end(JSON.stringify(service.answer.body));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  opening.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  service.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return service;
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString('utf8'));
}

/** An SMTP server that stores what it receives. */
export async function startSmtp(opening: AsyncDisposableStack) {
  const outbox: SentMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, session, done) => {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        outbox.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(parts).toString('utf8').replaceAll('=\r\n', ''),
        });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  opening.defer(
    () =>
      new Promise<void>((resolve) => {
        server.close(resolve);
      }),
  );
  return { outbox, smtpPort: (server.server.address() as AddressInfo).port };
}

/** Headers of a client of its own, for the limits, as reported by the proxy in front. */
export function fromClient(address: string): Record<string, string> {
  return { 'x-forwarded-for': address };
}

/** The cookie of a browser with this key of 64 hex digits. */
export function fromBrowser(key: string): { readonly cookie: string } {
  return { cookie: `browser=${key}` };
}

/** The server's name for a browser that signed in at a provider. */
export function signedInBy(world: Pick<WebWorld, 'services'>, key: string): string {
  return world.services.vault.digest('oauth browser', key);
}
