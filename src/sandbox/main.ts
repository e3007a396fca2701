import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { type OauthProvider } from '../contract/provider.ts';
import { OAUTH_PROVIDERS } from '../contract/provider-name.ts';
import { domainOf, isEmail } from '../contract/email-address.ts';
import { DESTINATIONS, OTHER_DOMAIN, OTHER_HOST, OTHER_MAILBOXES, SANDBOX_PASSWORD } from './destinations.ts';
import { type AddressBookOptions, startAddressBook } from './address-book.ts';
import { bearerOf } from './bearer.ts';
import { openDocuments } from './contacts/documents.ts';
import { seedCards } from './contacts/seed-cards.ts';
import { makePeopleApi } from './google-people.ts';
import { makeGraphApi } from './microsoft-graph.ts';
import { startDnsServer } from './dns-server.ts';
import { listen, LOOPBACK } from './listen.ts';
import { type MailServer, type MailServerOptions, startMailServer } from './mail-server.ts';
import { seedMailboxes } from './mailbox/seed.ts';
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

const CLIENT_ID = 'san-bruno-transfer';

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

  const startMail = async (name: string, rest: Omit<MailServerOptions, 'folder' | 'port'>): Promise<MailServer> => {
    const server = await startMailServer({
      ...rest,
      folder: join(folder, 'mail', name),
      port: preferred(`mail ${name}`),
    });
    ports[`mail ${name}`] = server.port;
    return opened.use(server);
  };
  const legacyPassword = (email: string, password: string) =>
    subscribers.some((subscriber) => subscriber.email === email && subscriber.password === password);
  const legacy = await startMail('legacy', {
    greeting: 'San Bruno Cable mail is ready',
    delimiter: '/',
    seed: (email) => {
      const subscriber = subscribers.find((candidate) => candidate.email === email);
      return subscriber === undefined ? [] : seedMailboxes(subscriber.mailboxes, subscriber);
    },
    door: { password: legacyPassword },
  });
  const destinations: [OauthProvider, MailServer][] = [];
  for (const key of OAUTH_PROVIDERS) {
    const { name, mail, mailboxes } = DESTINATIONS[key];
    const token = async (email: string, bearer: string) => {
      const owner = await signIn.bearerOf(key, bearer);
      return owner?.email === email && owner.scopes.includes(mail.scope);
    };
    const password = (email: string, given: string) => accepts(key, email, given, provisioning.accepts);
    destinations.push([
      key,
      await startMail(key, {
        greeting: `${name} mail is ready`,
        delimiter: '/',
        seed: () => mailboxes,
        door: key === 'yahoo' ? { token, password } : { token },
      }),
    ]);
  }
  const other = await startMail('other', {
    greeting: 'mail.example is ready',
    delimiter: '.',
    seed: () => OTHER_MAILBOXES,
    door: { password: (email, password) => domainOf(email) === OTHER_DOMAIN && password === SANDBOX_PASSWORD },
  });

  const outbox = opened.use(await openOutbox(join(folder, 'outbox.journal'), preferred('smtp')));
  ports['smtp'] = outbox.smtpPort;
  const dns = opened.use(
    await startDnsServer({ port: preferred('dns'), imapPorts: new Map([[OTHER_HOST, other.port]]) }),
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
  const contactsUrls: Readonly<Record<OauthProvider, string>> = {
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
      url: contactsUrls.office365,
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
      mail: mailServersOf([...destinations, ['other', other]]),
      otherHost: `${OTHER_HOST}:${other.port}`,
    }),
  );
  const listener = getRequestListener(app.fetch);
  handle = (request, response) => {
    if (!signIn.serve(request, response)) void listener(request, response);
  };
  writeSecrets(folder, { ...secrets, ports });

  const [domain = 'sanbrunocable.example'] = legacyDomains;
  const mailHosts = [legacy, ...destinations.map(([, server]) => server)].map(({ port }) => `${LOOPBACK}:${port}`);
  const environment: Record<string, string> = {
    // Lets unset settings take the example's values.
    SANDBOX: 'on',
    LEGACY_IMAP_URL: `imap://${LOOPBACK}:${legacy.port}`,
    LEGACY_CARDDAV_URL: `${legacyContacts}/dav/{email}/`,
    LEGACY_SIEVE_URL: `sieve://${LOOPBACK}:${scripts.port}`,
    TRUSTED_MAIL_HOSTS: [`${LOOPBACK}:${scripts.port}`, ...mailHosts, `${OTHER_HOST}:${other.port}`].join(','),
    PROVISIONING_URL: `${webUrl}/provisioning`,
    PROVISIONING_TOKEN: secrets.provisioningToken,
    SMTP_URL: `smtp://${LOOPBACK}:${outbox.smtpPort}`,
    MAIL_FROM: `San Bruno Email Data Transfer <no-reply@${domain}>`,
    SUPPORT_EMAIL: `support@${domain}`,
    SMS_URL: `${webUrl}/sms`,
    SMS_TOKEN: secrets.smsToken,
    DNS_SERVERS: `${LOOPBACK}:${dns.port}`,
    DESTINATION_MAIL_URL: `${webUrl}/mail/yahoo/`,
    FAQ_URL: `${webUrl}/help`,
    PRIVACY_URL: `${webUrl}/privacy`,
    TERMS_URL: `${webUrl}/terms`,
  };
  for (const [key, server] of destinations) {
    const name = key.toUpperCase();
    environment[`${name}_CLIENT_ID`] = CLIENT_ID;
    environment[`${name}_CLIENT_SECRET`] = secrets.clientSecret;
    environment[`${name}_ISSUER`] = signIn.issuer(key);
    environment[`${name}_IMAP_URL`] = `imap://${LOOPBACK}:${server.port}`;
    environment[`${name}_CONTACTS_URL`] = contactsUrls[key];
  }

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
