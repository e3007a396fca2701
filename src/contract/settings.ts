import * as v from 'valibot';
import { isDomain } from './email-address.ts';
import { type OauthProvider } from './provider.ts';
import { OAUTH_PROVIDERS } from './provider-name.ts';

type Fault = { readonly fault: string; readonly example: string };
const fault = ({ fault: what, example }: Fault) => `${what} Example: ${example}`;

function number(min: number, max: number, example: string) {
  const message = fault({ fault: `must be a whole number from ${min} to ${max}.`, example });
  return v.pipe(
    v.string(),
    v.regex(/^\d{1,9}$/, message),
    v.transform(Number),
    v.minValue(min, message),
    v.maxValue(max, message),
  );
}

function url(protocols: readonly string[], example: string) {
  const message = fault({ fault: `must be an address that starts with ${protocols.join(' or ')}.`, example });
  return v.pipe(
    v.string(),
    v.check((text) => {
      const parsed = URL.parse(text);
      return parsed !== null && protocols.includes(`${parsed.protocol}//`) && parsed.hostname !== '';
    }, message),
  );
}

const web = (example: string) => url(['https://', 'http://'], example);
const imap = (example: string) => url(['imaps://', 'imap://'], example);

/** An address of a page: on the web, or by mail or phone. */
const page = (example: string) => web(example);

function list(isEntry: (entry: string) => boolean, what: string, example: string) {
  const message = fault({ fault: `must be ${what}, separated by commas.`, example });
  return v.pipe(
    v.string(),
    v.transform((text) =>
      text
        .split(',')
        .map((entry) => entry.trim().toLowerCase())
        .filter((entry) => entry !== ''),
    ),
    v.minLength(1, message),
    v.check((entries) => entries.every(isEntry), message),
  );
}

const flag = (example: string) =>
  v.pipe(
    v.picklist(['on', 'off'], fault({ fault: 'must be on or off.', example })),
    v.transform((text) => text === 'on'),
  );

/** An empty variable counts as unset, so there is no shortest length. */
const text = (max: number, example: string) =>
  v.pipe(v.string(), v.maxLength(max, fault({ fault: `must have ${max} characters at most.`, example })));

const secret = (name: string) => text(4096, `${name}=…`);

/** Redirect addresses and the portal's own paths are put right behind it. */
function origin(example: string) {
  const message = fault({ fault: 'must have nothing behind its host and port, and no name or password.', example });
  return v.pipe(web(example), v.regex(/^[^/]+\/\/[^/?#@]+\/*$/, message));
}

/** Every variable, as `decisions.md` lists them: its schema from text, and whether its value may never be printed. */
const VARIABLES = {
  HOST: text(253, 'HOST=127.0.0.1'),
  PORT: number(0, 65_535, 'PORT=8080'),
  PUBLIC_URL: origin('PUBLIC_URL=https://transfer.example.com'),
  ROLE: v.picklist(['all', 'web', 'worker'], fault({ fault: 'must be all, web or worker.', example: 'ROLE=all' })),
  DATA_DIR: text(4096, 'DATA_DIR=/var/lib/portal'),
  DATABASE_URL: url(['postgres://', 'postgresql://'], 'DATABASE_URL=postgres://portal:secret@db.example.com/portal'),
  SECRET_KEY: v.pipe(
    v.string(),
    v.check(
      (key) => /^[A-Za-z0-9+/]{43}=$/.test(key),
      fault({ fault: 'must be 32 bytes in base64.', example: 'SECRET_KEY=$(openssl rand -base64 32)' }),
    ),
  ),
  EXPORTS_URL: v.pipe(
    text(4096, 'EXPORTS_URL=/var/lib/portal/exports'),
    v.check(
      // What begins like an address is none of a folder, or a slip would make a folder of that name.
      (value) => !/^[a-z][a-z0-9+.-]+:/i.test(value) || /^s3:\/\/[a-z0-9][a-z0-9._-]{1,62}(?:[/?]|$)/.test(value),
      fault({
        fault: "must be a folder, or a bucket's address that starts with s3://.",
        example: 'EXPORTS_URL=s3://bucket/prefix?endpoint=https://s3.example.com&region=us-west-1',
      }),
    ),
  ),
  SANDBOX: flag('SANDBOX=on'),
  MAINTENANCE: flag('MAINTENANCE=on'),
  /** Inspects the wizard in the browser: by the project's own viewer, or by another at an address. */
  INSPECT: v.union(
    [v.picklist(['on', 'off']), web('INSPECT=https://stately.ai/inspect')],
    fault({ fault: 'must be on, off, or the address of a viewer.', example: 'INSPECT=on' }),
  ),
  IN_QA: v.pipe(
    v.string(),
    v.transform((value) => ['true', 'True', '1'].includes(value)),
  ),
  LEGACY_NAME: text(64, 'LEGACY_NAME=San Bruno'),
  LEGACY_DOMAINS: list(isDomain, 'host names', 'LEGACY_DOMAINS=sanbrunocable.example,sanbruno.example'),
  ACCESS_END: v.pipe(
    v.string(),
    v.isoTimestamp(
      fault({ fault: 'must be a time with its offset (ISO 8601).', example: 'ACCESS_END=2025-11-30T23:59:59-08:00' }),
    ),
  ),
  LEGACY_IMAP_URL: imap('LEGACY_IMAP_URL=imaps://imap.example.com:993'),
  LEGACY_CARDDAV_URL: web('LEGACY_CARDDAV_URL=https://contacts.example.com/dav/{email}/'),
  /** The ManageSieve server (RFC 5804) of the legacy mailboxes, at port 4190 if it names none; STARTTLS is required unless the host is trusted. */
  LEGACY_SIEVE_URL: url(['sieve://'], 'LEGACY_SIEVE_URL=sieve://imap.example.com:4190'),
  PROVISIONING_URL: web('PROVISIONING_URL=https://accounts.example.com/v1'),
  PROVISIONING_TOKEN: secret('PROVISIONING_TOKEN'),
  TRUSTED_MAIL_HOSTS: list(
    (entry) => /^(\[[0-9a-f:]+\]|[^\s:[\]]+)(:\d{1,5})?$/.test(entry),
    'hosts, each as host or host:port',
    'TRUSTED_MAIL_HOSTS=127.0.0.1,mail.internal:143',
  ),
  SMTP_URL: url(['smtp://', 'smtps://'], 'SMTP_URL=smtps://user:secret@smtp.example.com'),
  MAIL_FROM: v.pipe(
    v.string(),
    v.regex(/^[^\r\n]*@[^\r\n]+$/, fault({ fault: 'must be an address.', example: 'MAIL_FROM=no-reply@example.com' })),
  ),
  SUPPORT_EMAIL: v.pipe(
    v.string(),
    v.email(fault({ fault: 'must be an address.', example: 'SUPPORT_EMAIL=support@example.com' })),
  ),
  SMS_URL: web('SMS_URL=https://sms.example.com/send'),
  SMS_TOKEN: secret('SMS_TOKEN'),
  TRANSFERS_AT_ONCE: number(1, 100, 'TRANSFERS_AT_ONCE=4'),
  CONNECTIONS_PER_ACCOUNT: number(1, 32, 'CONNECTIONS_PER_ACCOUNT=4'),
  EXPORT_DAYS: number(1, 365, 'EXPORT_DAYS=7'),
  LOG_LEVEL: v.picklist(
    ['trace', 'debug', 'info', 'warn', 'error', 'silent'],
    fault({ fault: 'must be trace, debug, info, warn, error or silent.', example: 'LOG_LEVEL=info' }),
  ),
  PROXIES: number(0, 10, 'PROXIES=1'),
  /** Name servers to ask instead of the system's. */
  DNS_SERVERS: list(
    (entry) =>
      /^(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:.]+\])(:\d{1,5})?$/.test(entry) && URL.parse(`http://${entry}`) !== null,
    'IP addresses of name servers, each as ip or ip:port',
    'DNS_SERVERS=192.0.2.53,[2001:db8::53]:53',
  ),
  FAQ_URL: page('FAQ_URL=https://help.example.com/'),
  PRIVACY_URL: page('PRIVACY_URL=https://www.example.com/privacy'),
  TERMS_URL: page('TERMS_URL=https://www.example.com/terms'),
  DESTINATION_MAIL_URL: page('DESTINATION_MAIL_URL=https://mail.yahoo.com/'),
  FOOTER_URL: page('FOOTER_URL=https://www.example.com/legal-footer'),
  SUPPORT_PHONE: text(32, 'SUPPORT_PHONE=650 555 0100'),
  ...providerVariables('GOOGLE'),
  ...providerVariables('YAHOO'),
  ...providerVariables('OFFICE365'),
  ...providerVariables('AOL'),
} as const;

function providerVariables<const P extends Uppercase<OauthProvider>>(provider: P) {
  return {
    [`${provider}_CLIENT_ID`]: secret(`${provider}_CLIENT_ID`),
    [`${provider}_CLIENT_SECRET`]: secret(`${provider}_CLIENT_SECRET`),
    [`${provider}_ISSUER`]: web(`${provider}_ISSUER=https://login.example.com`),
    [`${provider}_IMAP_URL`]: imap(`${provider}_IMAP_URL=imaps://imap.example.com:993`),
    [`${provider}_CONTACTS_URL`]: web(`${provider}_CONTACTS_URL=https://contacts.example.com`),
  } as {
    [K in `${P}_CLIENT_ID` | `${P}_CLIENT_SECRET`]: ReturnType<typeof text>;
  } & { [K in `${P}_ISSUER` | `${P}_CONTACTS_URL`]: ReturnType<typeof web> } & {
    [K in `${P}_IMAP_URL`]: ReturnType<typeof imap>;
  };
}

type Variables = typeof VARIABLES;
type Values = { [Name in keyof Variables]?: v.InferOutput<Variables[Name]> };

/** The names of every variable, for `.env` readers and documentation. */
export const SETTING_NAMES = Object.keys(VARIABLES) as readonly (keyof Variables)[];

export type ProviderSettings = {
  readonly client?: { readonly id: string; readonly secret: string };
  readonly issuer: string;
  readonly imapUrl: string;
  readonly contactsUrl: string;
};

const PUBLIC_ADDRESSES: Record<OauthProvider, Omit<ProviderSettings, 'client'>> = {
  google: {
    issuer: 'https://accounts.google.com',
    imapUrl: 'imaps://imap.gmail.com:993',
    contactsUrl: 'https://people.googleapis.com',
  },
  yahoo: {
    issuer: 'https://api.login.yahoo.com',
    imapUrl: 'imaps://imap.mail.yahoo.com:993',
    contactsUrl: 'https://carddav.address.yahoo.com',
  },
  office365: {
    issuer: 'https://login.microsoftonline.com/common/v2.0',
    imapUrl: 'imaps://outlook.office365.com:993',
    contactsUrl: 'https://graph.microsoft.com/v1.0',
  },
  aol: {
    issuer: 'https://api.login.aol.com',
    imapUrl: 'imaps://imap.aol.com:993',
    contactsUrl: 'https://carddav.aol.com',
  },
};

export type Settings = {
  readonly host: string;
  readonly port: number;
  /** Without a trailing slash. */
  readonly publicUrl: string;
  readonly role: 'all' | 'web' | 'worker';
  readonly dataDir: string;
  readonly databaseUrl?: string;
  /** 32 bytes in base64; absent on the embedded defaults, where it is generated into `dataDir`. */
  readonly secretKey?: string;
  /** A folder, or `s3://…`. */
  readonly exportsUrl: string;
  readonly sandbox: boolean;
  readonly maintenance: boolean;
  /** Where the viewer is that the portal's machine is inspected by; absent in production. */
  readonly inspectorUrl?: string;
  readonly inQa: boolean;
  readonly legacyName: string;
  readonly legacyDomains: readonly string[];
  readonly accessEnd: string;
  readonly legacyImapUrl?: string;
  readonly legacyCarddavUrl?: string;
  /** Absent: forwarding is not offered. */
  readonly legacySieveUrl?: string;
  readonly providers: Readonly<Record<OauthProvider, ProviderSettings>>;
  readonly provisioning?: { readonly url: string; readonly token?: string };
  readonly trustedMailHosts: readonly string[];
  readonly smtpUrl?: string;
  readonly mailFrom?: string;
  readonly supportEmail?: string;
  readonly sms?: { readonly url: string; readonly token?: string };
  readonly transfersAtOnce: number;
  readonly connectionsPerAccount?: number;
  readonly exportDays: number;
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** How many proxies stand in front and may be believed about the client's address. */
  readonly proxies: number;
  /** Name servers to ask instead of the system's, each as `ip` or `ip:port`. */
  readonly dnsServers?: readonly string[];
  readonly faqUrl: string;
  readonly privacyUrl: string;
  readonly termsUrl: string;
  readonly destinationMailUrl: string;
  readonly footerUrl?: string;
  readonly supportPhone: string;
};

/** One or more settings make no sense. `problems` has a line for each: its name, the fault, an example; never a value. */
export class SettingsError extends Error {
  override name = 'SettingsError';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads all settings from an environment; an empty variable counts as unset.
 * @throws {SettingsError} with every problem at once.
 */
export function readSettings(environment: Environment): Settings {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const name of SETTING_NAMES) {
    const raw = environment[name]?.trim();
    if (raw === undefined || raw === '') continue;
    const result = v.safeParse(VARIABLES[name], raw);
    if (result.success) values[name] = result.output;
    else problems.push(`${name} ${result.issues[0].message}`);
  }
  const set = values as Values;
  problems.push(...contradictions(set));
  if (problems.length > 0) throw new SettingsError(problems);
  return settle(set);
}

function contradictions(set: Values): string[] {
  const problems: string[] = [];
  const needs = (name: keyof Values, other: keyof Values, example: string) => {
    if (set[name] !== undefined && set[other] === undefined)
      problems.push(`${other} is needed with ${name}. Example: ${example}`);
  };
  needs('DATABASE_URL', 'SECRET_KEY', 'SECRET_KEY=$(openssl rand -base64 32)');
  needs('SMTP_URL', 'MAIL_FROM', 'MAIL_FROM=no-reply@example.com');
  for (const provider of OAUTH_PROVIDERS) {
    const name = provider.toUpperCase() as Uppercase<OauthProvider>;
    needs(`${name}_CLIENT_ID`, `${name}_CLIENT_SECRET`, `${name}_CLIENT_SECRET=…`);
    needs(`${name}_CLIENT_SECRET`, `${name}_CLIENT_ID`, `${name}_CLIENT_ID=…`);
  }
  if (!sandboxed(set) && set.LEGACY_IMAP_URL === undefined)
    problems.push(
      'LEGACY_IMAP_URL is needed when the sandbox is off. Example: LEGACY_IMAP_URL=imaps://imap.example.com:993',
    );
  if (set.ROLE !== undefined && set.ROLE !== 'all' && set.DATABASE_URL === undefined)
    problems.push(
      'DATABASE_URL is needed when ROLE is web or worker: the embedded database belongs to one process. Example: ROLE=all',
    );
  return problems;
}

function sandboxed(set: Values): boolean {
  return set.SANDBOX ?? (set.LEGACY_IMAP_URL === undefined && set.DATABASE_URL === undefined);
}

function settle(set: Values): Settings {
  const port = set.PORT ?? 8080;
  const dataDir = set.DATA_DIR ?? '.data';
  return {
    host: set.HOST ?? '127.0.0.1',
    port,
    publicUrl: (set.PUBLIC_URL ?? `http://localhost:${port}`).replace(/\/+$/, ''),
    role: set.ROLE ?? 'all',
    dataDir,
    exportsUrl: set.EXPORTS_URL ?? `${dataDir}/exports`,
    sandbox: sandboxed(set),
    maintenance: set.MAINTENANCE ?? false,
    inQa: set.IN_QA ?? false,
    legacyName: set.LEGACY_NAME ?? 'San Bruno',
    legacyDomains: set.LEGACY_DOMAINS ?? ['sanbrunocable.example', 'sanbruno.example', 'sbcable.example'],
    accessEnd: set.ACCESS_END ?? '2025-11-30T23:59:59-08:00',
    providers: {
      google: provider(set, 'google'),
      yahoo: provider(set, 'yahoo'),
      office365: provider(set, 'office365'),
      aol: provider(set, 'aol'),
    },
    trustedMailHosts: set.TRUSTED_MAIL_HOSTS ?? [],
    transfersAtOnce: set.TRANSFERS_AT_ONCE ?? 4,
    exportDays: set.EXPORT_DAYS ?? 7,
    logLevel: set.LOG_LEVEL ?? 'info',
    proxies: set.PROXIES ?? 0,
    faqUrl: set.FAQ_URL ?? 'https://help.sanbrunocable.example/faq',
    privacyUrl: set.PRIVACY_URL ?? 'https://www.sanbrunocable.example/privacy',
    termsUrl: set.TERMS_URL ?? 'https://www.sanbrunocable.example/terms',
    destinationMailUrl: set.DESTINATION_MAIL_URL ?? 'https://mail.yahoo.com/',
    supportPhone: set.SUPPORT_PHONE ?? '650 555 0100',
    ...optional('inspectorUrl', inspectorUrl(set.INSPECT)),
    ...optional('databaseUrl', set.DATABASE_URL),
    ...optional('secretKey', set.SECRET_KEY),
    ...optional('legacyImapUrl', set.LEGACY_IMAP_URL),
    ...optional('legacyCarddavUrl', set.LEGACY_CARDDAV_URL),
    ...optional('legacySieveUrl', set.LEGACY_SIEVE_URL),
    ...optional('provisioning', service(set.PROVISIONING_URL, set.PROVISIONING_TOKEN)),
    ...optional('smtpUrl', set.SMTP_URL),
    ...optional('mailFrom', set.MAIL_FROM),
    ...optional('supportEmail', set.SUPPORT_EMAIL),
    ...optional('sms', service(set.SMS_URL, set.SMS_TOKEN)),
    ...optional('connectionsPerAccount', set.CONNECTIONS_PER_ACCOUNT),
    ...optional('footerUrl', set.FOOTER_URL),
    ...optional('dnsServers', set.DNS_SERVERS),
  };
}

/** Our own viewer's page, as the server serves it. */
export const OWN_INSPECTOR = '/inspector/index.html';

function inspectorUrl(choice: string | undefined): string | undefined {
  if (choice === undefined || choice === 'off') return undefined;
  return choice === 'on' ? OWN_INSPECTOR : choice;
}

function optional<const Key extends string, Value>(key: Key, value: Value | undefined): { [K in Key]?: Value } {
  return (value === undefined ? {} : { [key]: value }) as { [K in Key]?: Value };
}

function service(address: string | undefined, token: string | undefined) {
  if (address === undefined) return undefined;
  return { url: address.replace(/\/+$/, ''), ...optional('token', token) };
}

function provider(set: Values, key: OauthProvider): ProviderSettings {
  const name = key.toUpperCase() as Uppercase<OauthProvider>;
  const id = set[`${name}_CLIENT_ID`];
  const secret = set[`${name}_CLIENT_SECRET`];
  const known = PUBLIC_ADDRESSES[key];
  return {
    issuer: set[`${name}_ISSUER`] ?? known.issuer,
    imapUrl: set[`${name}_IMAP_URL`] ?? known.imapUrl,
    contactsUrl: set[`${name}_CONTACTS_URL`] ?? known.contactsUrl,
    ...(id === undefined || secret === undefined ? {} : { client: { id, secret } }),
  };
}

/** The settings that the portal's build bakes in; nothing secret among them. */
export type PortalSettings = Pick<
  Settings,
  | 'legacyName'
  | 'legacyDomains'
  | 'accessEnd'
  | 'inQa'
  | 'faqUrl'
  | 'privacyUrl'
  | 'termsUrl'
  | 'destinationMailUrl'
  | 'footerUrl'
  | 'supportPhone'
>;

export function portalSettings(settings: Settings): PortalSettings {
  const { legacyName, legacyDomains, accessEnd, inQa } = settings;
  const { faqUrl, privacyUrl, termsUrl, destinationMailUrl, footerUrl, supportPhone } = settings;
  return {
    legacyName,
    legacyDomains,
    accessEnd,
    inQa,
    faqUrl,
    privacyUrl,
    termsUrl,
    destinationMailUrl,
    supportPhone,
    ...optional('footerUrl', footerUrl),
  };
}
