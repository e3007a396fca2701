import { Hono } from 'hono';
import type { OauthProvider } from '../contract/provider.ts';
import type { AddressBook, AddressBookOptions } from './address-book.ts';
import { bearerOf } from './bearer.ts';
import type { Documents, openDocuments } from './contacts/documents.ts';
import { seedCards } from './contacts/seed-cards.ts';
import { DESTINATIONS } from './destinations.ts';
import { makePeopleApi } from './google-people.ts';
import { LOOPBACK } from './listen.ts';
import { makeGraphApi } from './microsoft-graph.ts';
import type { SignIn } from './sign-in.ts';
import type { Subscriber } from './subscribers.ts';

export type Contacts = {
  /** The address of the legacy address book, and those of each provider's contacts. */
  readonly legacy: string;
  readonly destinations: Readonly<Record<OauthProvider, string>>;
  /** Google's and Microsoft's contacts, which are at the sandbox's own address. */
  readonly apis: Hono;
};

type World = {
  readonly start: (name: string, options: Omit<AddressBookOptions, 'port'>) => Promise<AddressBook>;
  readonly documents: (name: string, seed?: Parameters<typeof openDocuments>[1]) => Documents;
  readonly subscribers: readonly Subscriber[];
  readonly legacyPassword: (email: string, password: string) => boolean;
  readonly ownerOf: SignIn['bearerOf'];
  /** The sandbox's own address, without a trailing slash. */
  readonly webUrl: string;
};

/** Starts the address books of the legacy service and of each provider. */
export async function startContacts(world: World): Promise<Contacts> {
  const { start, documents, subscribers, legacyPassword, webUrl } = world;
  const legacy = await start('legacy', {
    challenge: 'Basic realm="Contacts", charset="UTF-8"',
    authenticate: async (header) => basicOwner(header, legacyPassword),
    documents: documents('legacy', (owner) => {
      const subscriber = subscribers.find(({ email }) => email === owner);
      return subscriber === undefined ? [] : seedCards(owner, subscriber.contacts);
    }),
  });
  const bearerBook = (key: OauthProvider) =>
    start(key, {
      challenge: 'Bearer',
      authenticate: async (header) => (await ownerBy(key, world)(bearerOf(header) ?? '')) ?? undefined,
      documents: documents(key),
    });
  const destinations: Contacts['destinations'] = {
    google: `${webUrl}/people`,
    yahoo: urlOf(await bearerBook('yahoo')),
    office365: `${webUrl}/graph/v1.0`,
    aol: urlOf(await bearerBook('aol')),
  };
  const people = makePeopleApi({ documents: documents('google'), ownerOf: ownerBy('google', world) });
  const graph = makeGraphApi({
    url: destinations.office365,
    documents: documents('office365'),
    ownerOf: ownerBy('office365', world),
  });
  const apis = new Hono().route('/people/v1', people).route('/graph/v1.0', graph);
  return { legacy: urlOf(legacy), destinations, apis };
}

function urlOf({ port }: AddressBook): string {
  return `http://${LOOPBACK}:${port}`;
}

/** The owner of the contacts that a token gives access to; `null` when it is valid but lacks the scope. */
function ownerBy(key: OauthProvider, { ownerOf }: World): (token: string) => Promise<string | null | undefined> {
  return async (token) => {
    const owner = await ownerOf(key, token);
    return owner?.scopes.includes(DESTINATIONS[key].contacts.scope) === false ? null : owner?.email;
  };
}

/** The user in an `Authorization: Basic` header (RFC 7617), if the password is right. */
function basicOwner(header: string | undefined, isRight: (email: string, password: string) => boolean) {
  const [, encoded = ''] = /^Basic (\S+)$/i.exec(header ?? '') ?? [];
  const [, email = '', password = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  const owner = email.toLowerCase();
  return isRight(owner, password) ? owner : undefined;
}
