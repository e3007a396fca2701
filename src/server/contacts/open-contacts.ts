import type { OauthProvider } from '../../contract/provider.ts';
import type { Settings } from '../../contract/settings.ts';
import { cardDavReader } from './carddav-reader.ts';
import { cardDavWriter } from './carddav-writer.ts';
import { ContactStoreError, type ContactCredentials, type ContactReader, type ContactWriter } from './contact-store.ts';
import { Dav } from './dav.ts';
import { googleWriter } from './google.ts';
import { microsoftWriter } from './microsoft.ts';
import { Web, type Sleep } from './web.ts';

export type ContactAccess = {
  readonly settings: Settings;
  readonly credentials: ContactCredentials;
  readonly sleep?: Sleep;
};

/**
 * The legacy provider's contacts of an account.
 * @throws {ContactStoreError} `unexpected` without the setting `LEGACY_CARDDAV_URL`
 */
export function openContactReader(access: ContactAccess): ContactReader {
  const { legacyCarddavUrl } = access.settings;
  if (legacyCarddavUrl === undefined) throw new ContactStoreError('unexpected', 'LEGACY_CARDDAV_URL is not set');
  const address = legacyCarddavUrl.replaceAll('{email}', encodeURIComponent(access.credentials.email));
  return cardDavReader(new Dav(webTo(address, access)));
}

/** The contacts of an account at a destination. */
export function openContactWriter(provider: OauthProvider, access: ContactAccess): ContactWriter {
  const web = webTo(access.settings.providers[provider].contactsUrl, access);
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

function webTo(address: string, { settings, credentials, sleep }: ContactAccess): Web {
  return new Web(new URL(address), credentials, {
    plainHosts: settings.trustedMailHosts,
    ...(sleep === undefined ? {} : { sleep }),
  });
}
