import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { type OauthProvider } from '../contract/provider.ts';
import { domainOf, isEmail } from '../contract/email-address.ts';
import { DESTINATIONS, OTHER_HOST, SANDBOX_PASSWORD } from './destinations.ts';
import { CLIENT_ID, environmentOf } from './environment.ts';
import { startMailServers } from './start-mail-servers.ts';
import { type AddressBookOptions, startAddressBook } from './address-book.ts';
import { bearerOf } from './bearer.ts';
import { openDocuments } from './contacts/documents.ts';
import { seedCards } from './contacts/seed-cards.ts';
import { makePeopleApi } from './google-people.ts';
import { makeGraphApi } from './microsoft-graph.ts';
import { startDnsServer } from './dns-server.ts';
import { listen, LOOPBACK } from './listen.ts';
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

  const contactsOf = (key: OauthProvider) => async (token: string) => {
    const owner = await signIn.bearerOf(key, token);
    return owner?.scopes.includes(DESTINATIONS[key].contacts.scope) === false ? null : owner?.email;
  };
  const documents = (name: string, seed?: Parameters<typeof openDocuments>[1]) =>
    opened.use(openDocuments(join(folder, 'contacts', `${name}.journal`), seed));
  const startBook = async (name: string, rest: Omit<AddressBookOptions, 'port'>) => {
    const book = opened.use(await startAddressBook({ ...rest, port: preferred(`contacts ${name}`) }));
    ports[`contacts ${name}`] = book.port;
    return `http://${LOOPBACK}:${book.port}`;
  };
  const legacyContacts = await startBook('legacy', {
    challenge: 'Basic realm="Contacts", charset="UTF-8"',
    authenticate: async (header) => basicOwner(header, legacyPassword),
    documents: documents('legacy', (owner) => {
      const subscriber = subscribers.find(({ email }) => email === owner);
      return subscriber === undefined ? [] : seedCards(owner, subscriber.contacts);
    }),
  });
  const scripts = opened.use(
    await startScriptServer({ port: preferred('scripts'), documents: documents('scripts'), accepts: legacyPassword }),
  );
  ports['scripts'] = scripts.port;
  const bearerBook = (key: OauthProvider) =>
    startBook(key, {
      challenge: 'Bearer',
      authenticate: async (header) => (await contactsOf(key)(bearerOf(header) ?? '')) ?? undefined,
      documents: documents(key),
    });
  const destinationContacts: Readonly<Record<OauthProvider, string>> = {
    google: `${webUrl}/people`,
    yahoo: await bearerBook('yahoo'),
    office365: `${webUrl}/graph/v1.0`,
    aol: await bearerBook('aol'),
  };

  const app = new Hono<{ Bindings: HttpBindings }>();
  app.route('/', signIn.app);
  app.route('/people/v1', makePeopleApi({ documents: documents('google'), ownerOf: contactsOf('google') }));
  app.route(
    '/graph/v1.0',
    makeGraphApi({
      url: destinationContacts.office365,
      documents: documents('office365'),
      ownerOf: contactsOf('office365'),
    }),
  );
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
    legacyContacts,
    destinationContacts,
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

/** The user in an `Authorization: Basic` header (RFC 7617), if the password is right. */
function basicOwner(header: string | undefined, isRight: (email: string, password: string) => boolean) {
  const [, encoded = ''] = /^Basic (\S+)$/i.exec(header ?? '') ?? [];
  const [, email = '', password = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  const owner = email.toLowerCase();
  return isRight(owner, password) ? owner : undefined;
}

function hint(provider: OauthProvider): string {
  if (provider !== 'yahoo') return `Any address will do. The password is “${SANDBOX_PASSWORD}”.`;
  return `After “Go to Yahoo Mail”: your San Bruno address and password. Else any address at yahoo.example with the password “${SANDBOX_PASSWORD}”.`;
}
