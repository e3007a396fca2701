import { domainOf } from '../contract/email-address.ts';
import { type OauthProvider } from '../contract/provider.ts';
import { OAUTH_PROVIDERS } from '../contract/provider-name.ts';
import { DESTINATIONS, OTHER_DOMAIN, OTHER_MAILBOXES, SANDBOX_PASSWORD } from './destinations.ts';
import type { MailServer, MailServerOptions } from './mail-server.ts';
import { seedMailboxes } from './mailbox/seed.ts';
import type { SignIn } from './sign-in.ts';
import type { Subscriber } from './subscribers.ts';

export type MailServers = {
  readonly legacy: MailServer;
  readonly destinations: readonly (readonly [OauthProvider, MailServer])[];
  /** Of a provider that the product knows nothing of. */
  readonly other: MailServer;
};

type World = {
  readonly start: (name: string, options: Omit<MailServerOptions, 'folder' | 'port'>) => Promise<MailServer>;
  readonly subscribers: readonly Subscriber[];
  readonly legacyPassword: (email: string, password: string) => boolean;
  readonly ownerOf: SignIn['bearerOf'];
  readonly accepts: (provider: OauthProvider, email: string, password: string) => boolean;
};

/** Starts the legacy server, one for each provider, and another one, with the mail that each begins with. */
export async function startMailServers(world: World): Promise<MailServers> {
  const { start, subscribers, legacyPassword } = world;
  const legacy = await start('legacy', {
    greeting: 'San Bruno Cable mail is ready',
    delimiter: '/',
    seed: (email) => {
      const subscriber = subscribers.find((candidate) => candidate.email === email);
      return subscriber === undefined ? [] : seedMailboxes(subscriber.mailboxes, subscriber);
    },
    door: { password: legacyPassword },
  });
  const destinations: [OauthProvider, MailServer][] = [];
  for (const key of OAUTH_PROVIDERS) destinations.push([key, await startDestination(key, world)]);
  const other = await start('other', {
    greeting: 'mail.example is ready',
    delimiter: '.',
    seed: () => OTHER_MAILBOXES,
    door: { password: (email, password) => domainOf(email) === OTHER_DOMAIN && password === SANDBOX_PASSWORD },
  });
  return { legacy, destinations, other };
}

function startDestination(key: OauthProvider, { start, ownerOf, accepts }: World): Promise<MailServer> {
  const { name, mail, mailboxes } = DESTINATIONS[key];
  const token = async (email: string, bearer: string) => {
    const owner = await ownerOf(key, bearer);
    return owner?.email === email && owner.scopes.includes(mail.scope);
  };
  const password = (email: string, given: string) => accepts(key, email, given);
  return start(key, {
    greeting: `${name} mail is ready`,
    delimiter: '/',
    seed: () => mailboxes,
    door: key === 'yahoo' ? { token, password } : { token },
  });
}
