import type { OauthProvider } from '../../contract/provider.ts';
import type { Settings } from '../../contract/settings.ts';
import { cardDavReader } from './carddav/carddav-reader.ts';
import { cardDavWriter } from './carddav/carddav-writer.ts';
import {
  CONTACTS_AT_MOST,
  ContactStoreError,
  type ContactCredentials,
  type ContactReader,
  type ContactWriter,
} from './contact-store.ts';
import { Dav } from './carddav/dav.ts';
import { GOOGLE_REFUSALS, googleWriter } from './google/google-contacts.ts';
import { MICROSOFT_REFUSALS, microsoftWriter } from './microsoft/microsoft-contacts.ts';
import { Web, type Refusals, type Sleep, type WebFailure } from './web.ts';

export type ContactAccess = {
  readonly settings: Settings;
  readonly credentials: ContactCredentials;
  readonly sleep?: Sleep;
  /** Called for every failed request, including those that are retried. */
  readonly onFailure?: (failure: WebFailure) => void;
};

/**
 * The legacy provider's contacts of an account.
 * @throws {ContactStoreError} `unexpected` without the setting `LEGACY_CARDDAV_URL`
 */
export function openContactReader(access: ContactAccess): ContactReader {
  const { legacyCarddavUrl } = access.settings;
  if (legacyCarddavUrl === undefined) {
    const error = new ContactStoreError('unexpected', 'LEGACY_CARDDAV_URL is not set');
    throw Object.assign(error, { account: 'source' });
  }
  const address = legacyCarddavUrl.replaceAll('{email}', encodeURIComponent(access.credentials.email));
  return sourceOf(cardDavReader(new Dav(webTo(address, access)), access.credentials.email.toLowerCase()));
}

/** The contacts of an account at a destination. */
export function openContactWriter(provider: OauthProvider, access: ContactAccess): ContactWriter {
  return destinationOf(
    writerFor(provider, webTo(access.settings.providers[provider].contactsUrl, access, REFUSALS[provider])),
  );
}

const REFUSALS: Partial<Record<OauthProvider, Refusals>> = { google: GOOGLE_REFUSALS, office365: MICROSOFT_REFUSALS };

function writerFor(provider: OauthProvider, web: Web): ContactWriter {
  switch (provider) {
    case 'google':
      return googleWriter(web);
    case 'office365':
      return microsoftWriter(web);
    case 'yahoo':
    case 'aol':
      return cardDavWriter(new Dav(web));
  }
}

function sourceOf(reader: ContactReader): ContactReader {
  return {
    survey: (signal) => reader.survey(signal).catch(noting('source')),
    contacts: (signal) => notingEach('source', reader.contacts(signal)),
  };
}

function destinationOf(writer: ContactWriter): ContactWriter {
  return {
    batchSize: writer.batchSize,
    notesOn: (contact) => writer.notesOn(contact),
    existing: (signal) => notingEach('destination', bounded(writer.existing(signal))),
    write: (contacts, signal) => writer.write(contacts, signal).catch(noting('destination')),
    fill: (existing, contact, signal) => writer.fill(existing, contact, signal).catch(noting('destination')),
    group: (group, signal) => writer.group(group, signal).catch(noting('destination')),
  };
}

async function* bounded<Item>(items: AsyncIterable<Item>): AsyncIterable<Item> {
  let count = 0;
  for await (const item of items) {
    count += 1;
    if (count > CONTACTS_AT_MOST)
      throw new ContactStoreError('too many', `there are more than ${CONTACTS_AT_MOST} contacts`);
    yield item;
  }
}

type Account = NonNullable<ContactStoreError['account']>;

function noting(account: Account): (error: unknown) => never {
  return (error) => {
    if (error instanceof ContactStoreError) error.account = account;
    throw error;
  };
}

async function* notingEach<Item>(account: Account, items: AsyncIterable<Item>): AsyncIterable<Item> {
  try {
    yield* items;
  } catch (error) {
    noting(account)(error);
  }
}

function webTo(address: string, { credentials, sleep, onFailure }: ContactAccess, refusals?: Refusals): Web {
  return new Web(new URL(address), credentials, {
    ...(sleep === undefined ? {} : { sleep }),
    ...(refusals === undefined ? {} : { refusals }),
    ...(onFailure === undefined ? {} : { onFailure }),
  });
}
