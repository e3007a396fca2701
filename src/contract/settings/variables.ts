import * as v from 'valibot';
import { isDomain, readSender } from '../email-address.ts';
import { isInQa } from '../in-qa.ts';
import { type OauthProvider } from '../provider.ts';
import {
  account,
  base,
  fault,
  flag,
  folder,
  imap,
  isKey,
  key,
  line,
  list,
  moment,
  number,
  origin,
  place,
  secret,
  text,
  web,
} from './kinds.ts';

/** Every variable with the schema that parses it: those of `decisions.md`, and a few more that the README documents. */
export const VARIABLES = {
  HOST: v.pipe(
    v.string(),
    v.regex(
      /^[\w.:%-]{1,253}$/,
      fault({ fault: 'must be a name or an address of this machine, and nothing around it.', example: 'HOST=::1' }),
    ),
  ),
  PORT: number(1, 65_535, 'PORT=8080'),
  /** Where a process of any role answers `/healthz` and `/readyz`, and nothing else. */
  HEALTH_PORT: number(1, 65_535, 'HEALTH_PORT=8081'),
  PUBLIC_URL: origin('PUBLIC_URL=https://transfer.example.com'),
  ROLE: v.picklist(['all', 'web', 'worker'], fault({ fault: 'must be all, web or worker.', example: 'ROLE=all' })),
  DATA_DIR: folder('DATA_DIR=/var/lib/portal'),
  DATABASE_URL: account(
    ['postgres://', 'postgresql://'],
    'DATABASE_URL=postgres://portal:secret@db.example.com/portal',
  ),
  SECRET_KEY: key('SECRET_KEY'),
  /** Previous values of SECRET_KEY, needed for as long as anything stored depends on them. */
  FORMER_SECRET_KEYS: v.pipe(
    v.string(),
    v.transform((keys) => keys.split(',').map((each) => each.trim())),
    v.check(
      (keys) => keys.every(isKey),
      fault({ fault: 'must be keys of 32 bytes in base64, separated by commas.', example: 'FORMER_SECRET_KEYS=…' }),
    ),
  ),
  RECEIPT_KEY: key('RECEIPT_KEY'),
  EXPORTS_URL: v.pipe(
    text(4096, 'EXPORTS_URL=/var/lib/portal/exports'),
    v.regex(
      /^[^~]/,
      fault({
        fault: 'must be the whole path of a folder: ~ is not replaced here.',
        example: 'EXPORTS_URL=/var/lib/portal/exports',
      }),
    ),
    v.check(
      // Anything with a scheme is not a folder: otherwise a typo would create a folder of that name.
      (value) => !/^[a-z][a-z0-9+.-]+:/i.test(value) || /^s3:\/\/[a-z0-9][a-z0-9._-]{1,62}(?:[/?]|$)/.test(value),
      fault({
        fault: "must be a folder, or a bucket's address that starts with s3://.",
        example: 'EXPORTS_URL=s3://bucket/prefix?endpoint=https://s3.example.com&region=us-west-1',
      }),
    ),
  ),
  SANDBOX: flag('SANDBOX=on'),
  MAINTENANCE: flag('MAINTENANCE=on'),
  /** Inspects the wizard in the browser, with the project's own viewer or another one at this address. */
  INSPECT: v.pipe(
    v.string(),
    v.check(
      (value) => value === 'on' || value === 'off' || v.is(web(''), value),
      fault({ fault: 'must be on, off, or the address of a viewer.', example: 'INSPECT=on' }),
    ),
  ),
  IN_QA: v.pipe(v.string(), v.transform(isInQa)),
  LEGACY_NAME: line(64, 'LEGACY_NAME=San Bruno'),
  LEGACY_DOMAINS: list(isDomain, 'host names', 'LEGACY_DOMAINS=sanbrunocable.example,sanbruno.example'),
  ACCESS_END: moment('ACCESS_END=2025-11-30T23:59:59-08:00'),
  LEGACY_IMAP_URL: imap('LEGACY_IMAP_URL=imaps://imap.example.com:993'),
  LEGACY_CARDDAV_URL: v.pipe(
    web('LEGACY_CARDDAV_URL=https://contacts.example.com/dav/{email}/'),
    v.check(
      (value) => !/[{}]/.test(value.replaceAll('{email}', '')),
      fault({
        fault: 'must have {email} where the address belongs, and nothing else between braces.',
        example: 'LEGACY_CARDDAV_URL=https://contacts.example.com/dav/{email}/',
      }),
    ),
  ),
  /**
   * The ManageSieve server (RFC 5804) of the legacy mailboxes, at port 4190 if it names none; STARTTLS is required
   * unless the host is trusted.
   */
  LEGACY_SIEVE_URL: place(['sieve://'], 'LEGACY_SIEVE_URL=sieve://imap.example.com:4190'),
  PROVISIONING_URL: base('PROVISIONING_URL=https://accounts.example.com/v1'),
  PROVISIONING_TOKEN: secret('PROVISIONING_TOKEN'),
  TRUSTED_MAIL_HOSTS: list(
    // Neither `*.internal` nor `10.0.0.0/8`: no host would ever be trusted by it.
    (entry) => /^(\[[0-9a-f:]+\]|[^\s:[\]*/?#@]+)(:\d{1,5})?$/.test(entry) && URL.parse(`http://${entry}`) !== null,
    'hosts, each as host or host:port',
    'TRUSTED_MAIL_HOSTS=127.0.0.1,mail.internal:143',
  ),
  /** The certificates of the TRUSTED_MAIL_HOSTS, or their CAs. With them, these hosts are only spoken to over TLS. */
  TRUSTED_MAIL_CERTIFICATES: v.pipe(
    v.string(),
    v.transform((text) => text.match(/-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g) ?? []),
    v.minLength(
      1,
      fault({
        fault: 'must be one or more certificates in PEM.',
        example: 'TRUSTED_MAIL_CERTIFICATES_FILE=/etc/ssl/mail.pem',
      }),
    ),
  ),
  SMTP_URL: account(['smtp://', 'smtps://'], 'SMTP_URL=smtps://user:secret@smtp.example.com'),
  MAIL_FROM: v.pipe(
    text(320, 'MAIL_FROM=no-reply@example.com'),
    v.check(
      (from) => readSender(from) !== null,
      fault({
        fault: 'must be an address, or a name and an address between < and >.',
        example: 'MAIL_FROM=no-reply@example.com',
      }),
    ),
  ),
  SUPPORT_EMAIL: v.pipe(
    v.string(),
    v.email(fault({ fault: 'must be an address.', example: 'SUPPORT_EMAIL=support@example.com' })),
  ),
  SMS_URL: web('SMS_URL=https://sms.example.com/send'),
  SMS_TOKEN: secret('SMS_TOKEN'),
  TRANSFERS_AT_ONCE: number(1, 100, 'TRANSFERS_AT_ONCE=4'),
  CONNECTIONS_PER_ACCOUNT: number(1, 32, 'CONNECTIONS_PER_ACCOUNT=4'),
  /** Whether octets to and from mail servers are compressed where these offer it. */
  COMPRESS_MAIL: flag('COMPRESS_MAIL=on'),
  EXPORT_DAYS: number(1, 365, 'EXPORT_DAYS=7'),
  /** How long a transfer, and everything known about it, is kept after its end. */
  RETENTION_DAYS: number(1, 3650, 'RETENTION_DAYS=30'),
  /** Settings whose address may be remote and without TLS. */
  ALLOW_CLEAR_TEXT: v.pipe(
    v.string(),
    v.transform((text) => text.split(',').map((name) => name.trim().toUpperCase())),
  ),
  LOG_LEVEL: v.picklist(
    ['trace', 'debug', 'info', 'warn', 'error', 'silent'],
    fault({ fault: 'must be trace, debug, info, warn, error or silent.', example: 'LOG_LEVEL=info' }),
  ),
  PROXIES: number(0, 10, 'PROXIES=1'),
  /** Name servers to use instead of the system's. */
  DNS_SERVERS: list(
    (entry) =>
      /^(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:.]+\])(:\d{1,5})?$/.test(entry) && URL.parse(`http://${entry}`) !== null,
    'IP addresses of name servers, each as ip or ip:port',
    'DNS_SERVERS=192.0.2.53,[2001:db8::53]:53',
  ),
  FAQ_URL: web('FAQ_URL=https://help.example.com/'),
  PRIVACY_URL: web('PRIVACY_URL=https://www.example.com/privacy'),
  TERMS_URL: web('TERMS_URL=https://www.example.com/terms'),
  DESTINATION_MAIL_URL: web('DESTINATION_MAIL_URL=https://mail.yahoo.com/'),
  FOOTER_URL: web('FOOTER_URL=https://www.example.com/legal-footer'),
  SUPPORT_PHONE: line(32, 'SUPPORT_PHONE=650 555 0100'),
  ...providerVariables('GOOGLE'),
  ...providerVariables('YAHOO'),
  ...providerVariables('OFFICE365'),
  ...providerVariables('AOL'),
} as const;

function providerVariables<const P extends Uppercase<OauthProvider>>(provider: P) {
  return {
    [`${provider}_CLIENT_ID`]: secret(`${provider}_CLIENT_ID`),
    [`${provider}_CLIENT_SECRET`]: secret(`${provider}_CLIENT_SECRET`),
    [`${provider}_ISSUER`]: base(`${provider}_ISSUER=https://login.example.com`),
    [`${provider}_IMAP_URL`]: imap(`${provider}_IMAP_URL=imaps://imap.example.com:993`),
    [`${provider}_CONTACTS_URL`]: base(`${provider}_CONTACTS_URL=https://contacts.example.com`),
  } as {
    [K in `${P}_CLIENT_ID` | `${P}_CLIENT_SECRET`]: ReturnType<typeof text>;
  } & { [K in `${P}_ISSUER` | `${P}_CONTACTS_URL`]: ReturnType<typeof web> } & {
    [K in `${P}_IMAP_URL`]: ReturnType<typeof imap>;
  };
}

type Variables = typeof VARIABLES;
export type Values = { [Name in keyof Variables]?: v.InferOutput<Variables[Name]> };

/** The settings that hold a secret, which can also come from a file (`SECRET_KEY_FILE`). */
export const SECRET_SETTINGS = [
  'SECRET_KEY',
  'FORMER_SECRET_KEYS',
  'RECEIPT_KEY',
  'DATABASE_URL',
  'PROVISIONING_TOKEN',
  'SMTP_URL',
  'SMS_TOKEN',
  'GOOGLE_CLIENT_SECRET',
  'YAHOO_CLIENT_SECRET',
  'OFFICE365_CLIENT_SECRET',
  'AOL_CLIENT_SECRET',
] as const satisfies readonly (keyof Variables)[];

/** The settings that can come from a file. */
export const FILE_SETTINGS = [...SECRET_SETTINGS, 'TRUSTED_MAIL_CERTIFICATES'] as const;

/** The names of every variable, for `.env` readers and documentation. */
export const SETTING_NAMES = Object.keys(VARIABLES) as readonly (keyof Variables)[];
