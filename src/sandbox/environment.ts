import { type OauthProvider } from '../contract/provider.ts';
import { OTHER_HOST } from './destinations.ts';
import { LOOPBACK } from './listen.ts';
import type { Secrets } from './secrets.ts';
import type { MailServers } from './start-mail-servers.ts';

/** What the product calls itself at every provider of the sandbox. */
export const CLIENT_ID = 'san-bruno-transfer';

type World = {
  readonly webUrl: string;
  readonly secrets: Pick<Secrets, 'provisioningToken' | 'smsToken' | 'clientSecret'>;
  readonly legacyDomain: string | undefined;
  readonly mail: MailServers;
  readonly ports: { readonly smtp: number; readonly dns: number; readonly scripts: number };
  readonly legacyContacts: string;
  readonly destinationContacts: Readonly<Record<OauthProvider, string>>;
  readonly issuer: (provider: OauthProvider) => string;
};

/** The settings that connect the product to the sandbox. */
export function environmentOf(world: World): Record<string, string> {
  const { webUrl, secrets, legacyDomain: domain = 'sanbrunocable.example', mail, ports } = world;
  const { legacy, destinations, other } = mail;
  const mailHosts = [legacy, ...destinations.map(([, server]) => server)].map(({ port }) => `${LOOPBACK}:${port}`);
  const environment: Record<string, string> = {
    // Lets unset settings take the example's values.
    SANDBOX: 'on',
    LEGACY_IMAP_URL: `imap://${LOOPBACK}:${legacy.port}`,
    LEGACY_CARDDAV_URL: `${world.legacyContacts}/dav/{email}/`,
    LEGACY_SIEVE_URL: `sieve://${LOOPBACK}:${ports.scripts}`,
    TRUSTED_MAIL_HOSTS: [`${LOOPBACK}:${ports.scripts}`, ...mailHosts, `${OTHER_HOST}:${other.port}`].join(','),
    PROVISIONING_URL: `${webUrl}/provisioning`,
    PROVISIONING_TOKEN: secrets.provisioningToken,
    SMTP_URL: `smtp://${LOOPBACK}:${ports.smtp}`,
    MAIL_FROM: `San Bruno Email Data Transfer <no-reply@${domain}>`,
    SUPPORT_EMAIL: `support@${domain}`,
    SMS_URL: `${webUrl}/sms`,
    SMS_TOKEN: secrets.smsToken,
    DNS_SERVERS: `${LOOPBACK}:${ports.dns}`,
    DESTINATION_MAIL_URL: `${webUrl}/mail/yahoo/`,
    FAQ_URL: `${webUrl}/help`,
    PRIVACY_URL: `${webUrl}/privacy`,
    TERMS_URL: `${webUrl}/terms`,
  };
  for (const [key, { port }] of destinations) Object.assign(environment, providerSettings(key, port, world));
  return environment;
}

function providerSettings(key: OauthProvider, imapPort: number, world: World): Record<string, string> {
  const name = key.toUpperCase();
  return {
    [`${name}_CLIENT_ID`]: CLIENT_ID,
    [`${name}_CLIENT_SECRET`]: world.secrets.clientSecret,
    [`${name}_ISSUER`]: world.issuer(key),
    [`${name}_IMAP_URL`]: `imap://${LOOPBACK}:${imapPort}`,
    [`${name}_CONTACTS_URL`]: world.destinationContacts[key],
  };
}
