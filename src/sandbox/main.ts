import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { type OauthProvider } from '../contract/provider.ts';
import { domainOf, isEmail } from '../contract/email-address.ts';
import { OTHER_HOST, SANDBOX_PASSWORD } from './destinations.ts';
import { CLIENT_ID, environmentOf } from './environment.ts';
import { startContacts } from './start-contacts.ts';
import { startMailServers } from './start-mail-servers.ts';
import { startAddressBook } from './address-book.ts';
import { openDocuments } from './contacts/documents.ts';
import { startDnsServer } from './dns-server.ts';
import { listen } from './listen.ts';
import { startMailServer } from './mail-server.ts';
import { openOutbox } from './outbox.ts';
import { openProvisioning } from './provisioning.ts';
import { mailServersOf, makeSandboxWeb } from './sandbox-web.ts';
import { startScriptServer } from './script-server.ts';
import { readSecrets, writeSecrets } from './secrets.ts';
import { makeSignIn } from './sign-in.ts';
import { openSignInStore } from './sign-in-store.ts';
import { type Subscriber, seededSubscribers } from './subscribers.ts';

export type SandboxOptions = {
  /** Holds what must survive the process; belongs to one sandbox at a time. */
  readonly folder: string;
  /** 0, or a port that is taken, means any free one. */
  readonly webPort: number;
  /** The product's address, without a trailing slash. */
  readonly publicUrl: string;
  readonly legacyDomains: readonly string[];
};

export type Sandbox = AsyncDisposable & {
  /** The settings that connect the product to the sandbox. */
  readonly environment: Readonly<Record<string, string>>;
  readonly webUrl: string;
  readonly subscribers: readonly Pick<Subscriber, 'email' | 'password' | 'about'>[];
};

/** Starts the outside world: mail servers, sign-in, account creation, contacts, an outbox and a name server. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { folder, publicUrl, legacyDomains } = options;
  await using opened = new AsyncDisposableStack();
  const secrets = readSecrets(folder);
  const ports: Record<string, number> = {};
  const preferred = (name: string) => secrets.ports[name] ?? 0;
  const subscribers = seededSubscribers(legacyDomains);

  let handle: RequestListener = notReady;
  const web = createServer((request, response) => handle(request, response));
  ports['web'] = await listen(web, options.webPort === 0 ? preferred('web') : options.webPort);
  opened.defer(async () => {
    web.closeAllConnections();
    await new Promise((resolve) => web.close(resolve));
  });
  const webUrl = `http://localhost:${ports['web']}`;

  const provisioning = opened.use(
    openProvisioning(join(folder, 'provisioning.journal'), secrets.provisioningToken, subscribers),
  );
  const signIn = makeSignIn({
    webUrl,
    publicUrl,
    client: { id: CLIENT_ID, secret: secrets.clientSecret },
    cookieKey: secrets.cookieKey,
    signingKey: secrets.signingKey,
    store: opened.use(openSignInStore(join(folder, 'sign-in.journal'))),
    accepts: (provider, email, password) => isEmail(email) && accepts(provider, email, password, provisioning.accepts),
    hint,
  });

  const legacyPassword = (email: string, password: string) =>
    subscribers.some((subscriber) => subscriber.email === email && subscriber.password === password);
  const mail = await startMailServers({
    start: async (name, rest) => {
      const server = await startMailServer({
        ...rest,
        folder: join(folder, 'mail', name),
        port: preferred(`mail ${name}`),
      });
      ports[`mail ${name}`] = server.port;
      return opened.use(server);
    },
    subscribers,
    legacyPassword,
    ownerOf: signIn.bearerOf,
    accepts: (provider, email, password) => accepts(provider, email, password, provisioning.accepts),
  });

  const outbox = opened.use(await openOutbox(join(folder, 'outbox.journal'), preferred('smtp')));
  ports['smtp'] = outbox.smtpPort;
  const dns = opened.use(
    await startDnsServer({ port: preferred('dns'), imapPorts: new Map([[OTHER_HOST, mail.other.port]]) }),
  );
  ports['dns'] = dns.port;

  const documents = (name: string, seed?: Parameters<typeof openDocuments>[1]) =>
    opened.use(openDocuments(join(folder, 'contacts', `${name}.journal`), seed));
  const contacts = await startContacts({
    start: async (name, rest) => {
      const book = await startAddressBook({ ...rest, port: preferred(`contacts ${name}`) });
      ports[`contacts ${name}`] = book.port;
      return opened.use(book);
    },
    documents,
    subscribers,
    legacyPassword,
    ownerOf: signIn.bearerOf,
    webUrl,
  });
  const scripts = opened.use(
    await startScriptServer({ port: preferred('scripts'), documents: documents('scripts'), accepts: legacyPassword }),
  );
  ports['scripts'] = scripts.port;

  const app = new Hono<{ Bindings: HttpBindings }>();
  app.route('/', signIn.app);
  app.route('/', contacts.apis);
  app.route('/provisioning', provisioning.app);
  app.route(
    '/',
    makeSandboxWeb({
      subscribers,
      publicUrl,
      outbox,
      smsToken: secrets.smsToken,
      mail: mailServersOf([...mail.destinations, ['other', mail.other]]),
      otherHost: `${OTHER_HOST}:${mail.other.port}`,
    }),
  );
  const listener = getRequestListener(app.fetch);
  handle = (request, response) => {
    if (!signIn.serve(request, response)) void listener(request, response);
  };
  writeSecrets(folder, { ...secrets, ports });

  const environment = environmentOf({
    webUrl,
    secrets,
    legacyDomain: legacyDomains[0],
    mail,
    ports: { smtp: outbox.smtpPort, dns: dns.port, scripts: scripts.port },
    legacyContacts: contacts.legacy,
    destinationContacts: contacts.destinations,
    issuer: signIn.issuer,
  });
  const lifetime = opened.move();
  return {
    environment,
    webUrl,
    subscribers,
    [Symbol.asyncDispose]: () => lifetime.disposeAsync(),
  };
}

const notReady: RequestListener = (_request, response) => {
  response.writeHead(503, { 'retry-after': '1' }).end();
};

/** Yahoo knows the accounts that were created for subscribers, and its own domain; the others accept any address. */
function accepts(
  provider: OauthProvider,
  email: string,
  password: string,
  provisioned: (email: string, password: string) => boolean,
): boolean {
  if (provider !== 'yahoo') return password === SANDBOX_PASSWORD;
  return provisioned(email, password) || (domainOf(email) === 'yahoo.example' && password === SANDBOX_PASSWORD);
}

function hint(provider: OauthProvider): string {
  if (provider !== 'yahoo') return `Any address will do. The password is “${SANDBOX_PASSWORD}”.`;
  return `After “Go to Yahoo Mail”: your San Bruno address and password. Else any address at yahoo.example with the password “${SANDBOX_PASSWORD}”.`;
}
