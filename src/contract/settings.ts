import * as v from 'valibot';
import { type OauthProvider } from './provider.ts';
import { OAUTH_PROVIDERS } from './provider-name.ts';
import { CLEAR_TEXT_SETTINGS, clearTextProblems, isLoopback, publicProblems } from './settings/clear-text.ts';
import { withoutEnd } from './without-end.ts';
import { FILE_SETTINGS, SETTING_NAMES, VARIABLES, type Values } from './settings/variables.ts';

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
  /** The port for health checks; without it, only web processes answer them, at `port`. */
  readonly healthPort?: number;
  /** Without a trailing slash. */
  readonly publicUrl: string;
  readonly role: 'all' | 'web' | 'worker';
  readonly dataDir: string;
  readonly databaseUrl?: string;
  /** 32 bytes in base64; absent with the embedded defaults, where it is generated in `dataDir`. */
  readonly secretKey?: string;
  /** Previous values of `secretKey`, also in base64. */
  readonly formerSecretKeys: readonly string[];
  /** The key that signs receipts (Ed25519), 32 bytes in base64; without it, one is derived from `secretKey`. */
  readonly receiptKey?: string;
  /** A folder, or `s3://…`. */
  readonly exportsUrl: string;
  readonly sandbox: boolean;
  readonly maintenance: boolean;
  /** The address of the viewer for inspecting the portal's machine; absent in production. */
  readonly inspectorUrl?: string;
  readonly inQa: boolean;
  readonly legacyName: string;
  readonly legacyDomains: readonly string[];
  readonly accessEnd: string;
  readonly legacyImapUrl?: string;
  readonly legacyCarddavUrl?: string;
  /** Without it, forwarding is not offered. */
  readonly legacySieveUrl?: string;
  readonly providers: Readonly<Record<OauthProvider, ProviderSettings>>;
  readonly provisioning?: { readonly url: string; readonly token?: string };
  readonly trustedMailHosts: readonly string[];
  /** In PEM; without them, hosts of `trustedMailHosts` are trusted without a certificate. */
  readonly trustedMailCertificates?: readonly string[];
  readonly smtpUrl?: string;
  readonly mailFrom?: string;
  readonly supportEmail?: string;
  readonly sms?: { readonly url: string; readonly token?: string };
  readonly transfersAtOnce: number;
  readonly connectionsPerAccount?: number;
  /** Whether to ask mail servers for COMPRESS=DEFLATE (RFC 4978) when mail is moved. */
  readonly compressMail: boolean;
  readonly exportDays: number;
  readonly retentionDays: number;
  /** Whether mail may be sent to the SMTP server without TLS. */
  readonly smtpInClear: boolean;
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** How many proxies are in front of the server and trusted to report the client's address. */
  readonly proxies: number;
  /** Name servers to use instead of the system's, each `ip` or `ip:port`. */
  readonly dnsServers?: readonly string[];
  readonly faqUrl: string;
  readonly privacyUrl: string;
  readonly termsUrl: string;
  readonly destinationMailUrl: string;
  readonly footerUrl?: string;
  readonly supportPhone: string;
};

/** One or more settings are invalid. `problems` has a line for each: its name, the fault and an example, never its value. */
export class SettingsError extends Error {
  override name = 'SettingsError';
  readonly problems: readonly string[];
  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join('\n'), options);
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
    // Of IN_QA, whatever is not one of three words means off.
    if (isQuoted(raw) && name !== 'IN_QA') {
      problems.push(`${name} has quotation marks around it, which not every reader takes off. Example: ${name}=…`);
      continue;
    }
    const result = v.safeParse(VARIABLES[name], raw);
    if (result.success) values[name] = result.output;
    else problems.push(`${name} ${result.issues[0].message}`);
  }
  const set = values as Values;
  problems.push(...contradictions(set, (name) => (environment[name]?.trim() ?? '') !== ''), ...misspelt(environment));
  if (problems.length > 0) throw new SettingsError(problems);
  return settle(set);
}

/** An env file of Docker's keeps them: a secret would be refused later, and a folder of that name be made somewhere. */
function isQuoted(text: string): boolean {
  return /^(?:"[^"]*"|'[^']*')$/.test(text);
}

/** @param isGiven whether the variable is set, validly or not */
function contradictions(set: Values, isGiven: (name: keyof Values) => boolean): string[] {
  const problems: string[] = [];
  const needs = (name: keyof Values, other: keyof Values, example: string) => {
    if (set[name] !== undefined && !isGiven(other))
      problems.push(`${other} is needed with ${name}. Example: ${example}`);
  };
  needs('DATABASE_URL', 'SECRET_KEY', 'SECRET_KEY=$(openssl rand -base64 32)');
  needs('TRUSTED_MAIL_CERTIFICATES', 'TRUSTED_MAIL_HOSTS', 'TRUSTED_MAIL_HOSTS=mail.internal:143');
  needs('SMTP_URL', 'MAIL_FROM', 'MAIL_FROM=no-reply@example.com');
  for (const provider of OAUTH_PROVIDERS) {
    const name = provider.toUpperCase() as Uppercase<OauthProvider>;
    needs(`${name}_CLIENT_ID`, `${name}_CLIENT_SECRET`, `${name}_CLIENT_SECRET=…`);
    needs(`${name}_CLIENT_SECRET`, `${name}_CLIENT_ID`, `${name}_CLIENT_ID=…`);
  }
  if (!sandboxed(set) && !isGiven('LEGACY_IMAP_URL'))
    problems.push(
      'LEGACY_IMAP_URL is needed when the sandbox is off. Example: LEGACY_IMAP_URL=imaps://imap.example.com:993',
    );
  if (set.ROLE !== undefined && set.ROLE !== 'all' && !isGiven('DATABASE_URL'))
    problems.push(
      'DATABASE_URL is needed when ROLE is web or worker: the embedded database belongs to one process. Example: ROLE=all',
    );
  const port = set.PORT ?? PORT;
  if (set.ROLE !== 'worker' && set.HEALTH_PORT === port)
    problems.push(
      `HEALTH_PORT must differ from PORT, where a web process answers the same. Example: HEALTH_PORT=${port < LAST_PORT ? port + 1 : port - 1}`,
    );
  const exportDays = set.EXPORT_DAYS ?? EXPORT_DAYS;
  if (set.RETENTION_DAYS !== undefined && set.RETENTION_DAYS < exportDays)
    problems.push(
      `RETENTION_DAYS must not be less than EXPORT_DAYS: a file can't outlive its transfer. Example: RETENTION_DAYS=${exportDays}`,
    );
  const unknown = set.ALLOW_CLEAR_TEXT?.filter((name) => !CLEAR_TEXT_SETTINGS.some((known) => known === name)) ?? [];
  if (unknown.length > 0)
    problems.push('ALLOW_CLEAR_TEXT must be names of settings, separated by commas. Example: ALLOW_CLEAR_TEXT=SMS_URL');
  problems.push(...clearTextProblems(set), ...publicProblems(set, sandboxed(set)));
  return problems;
}

/** Shorter names resemble too many variables that are not ours. */
const SHORTEST_MISSPELT = 8;
const SLIPS = 2;

/** Finds variables that are almost a setting's name, or its beginning: without a warning, the setting would silently stay unset. */
function misspelt(environment: Environment): string[] {
  const known: readonly string[] = [...SETTING_NAMES, ...FILE_SETTINGS.map((name) => `${name}_FILE`)];
  return Object.keys(environment).flatMap((name) => {
    if (name.length < SHORTEST_MISSPELT || known.includes(name) || (environment[name]?.trim() ?? '') === '') return [];
    const inFile = SETTING_NAMES.find((each) => `${each}_FILE` === name);
    if (inFile !== undefined) return `${name} is no setting: only secrets come from files. Set ${inFile} itself.`;
    const near = known.find((each) => slipsBetween(name, each) <= SLIPS);
    const meant = near === undefined ? continuationsOf(name) : [near];
    return meant.length === 0
      ? []
      : `${name} is no setting. ${meant.join(' or ')} may be meant: rename it, or take it out.`;
  });
}

/** The settings whose name goes on behind two or more words; behind one alone there are too many that are not ours. */
function continuationsOf(name: string): string[] {
  return name.includes('_') ? SETTING_NAMES.filter((each) => each.startsWith(`${name}_`)) : [];
}

/** Levenshtein distance, exact up to `SLIPS`. */
function slipsBetween(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > SLIPS) return Infinity;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let at = 0; at < a.length; at += 1) {
    const next = [at + 1];
    for (let index = 0; index < b.length; index += 1)
      next.push(
        Math.min((row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1, (row[index] ?? 0) + (a[at] === b[index] ? 0 : 1)),
      );
    row = next;
  }
  return row[b.length] ?? Infinity;
}

function sandboxed(set: Values): boolean {
  return set.SANDBOX ?? (set.LEGACY_IMAP_URL === undefined && set.DATABASE_URL === undefined);
}

const PORT = 8080;
const LAST_PORT = 65_535;
const EXPORT_DAYS = 7;
const RETENTION_DAYS = 30;

function settle(set: Values): Settings {
  const port = set.PORT ?? PORT;
  const dataDir = set.DATA_DIR ?? '.data';
  const exportDays = set.EXPORT_DAYS ?? EXPORT_DAYS;
  return {
    host: set.HOST ?? '127.0.0.1',
    port,
    publicUrl: withoutEnd(set.PUBLIC_URL ?? `http://localhost:${port}`, '/'),
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
    formerSecretKeys: set.FORMER_SECRET_KEYS ?? [],
    trustedMailHosts: set.TRUSTED_MAIL_HOSTS ?? [],
    transfersAtOnce: set.TRANSFERS_AT_ONCE ?? 4,
    compressMail: set.COMPRESS_MAIL ?? false,
    exportDays,
    retentionDays: set.RETENTION_DAYS ?? Math.max(RETENTION_DAYS, exportDays),
    smtpInClear:
      set.SMTP_URL !== undefined && (isLoopback(set.SMTP_URL) || set.ALLOW_CLEAR_TEXT?.includes('SMTP_URL') === true),
    logLevel: set.LOG_LEVEL ?? 'info',
    proxies: set.PROXIES ?? 0,
    faqUrl: set.FAQ_URL ?? 'https://help.sanbrunocable.example/faq',
    privacyUrl: set.PRIVACY_URL ?? 'https://www.sanbrunocable.example/privacy',
    termsUrl: set.TERMS_URL ?? 'https://www.sanbrunocable.example/terms',
    destinationMailUrl: set.DESTINATION_MAIL_URL ?? 'https://mail.yahoo.com/',
    supportPhone: set.SUPPORT_PHONE ?? '650 555 0100',
    ...optional('healthPort', set.HEALTH_PORT),
    ...optional('inspectorUrl', inspectorUrl(set.INSPECT)),
    ...optional('databaseUrl', set.DATABASE_URL),
    ...optional('secretKey', set.SECRET_KEY),
    ...optional('receiptKey', set.RECEIPT_KEY),
    ...optional('legacyImapUrl', set.LEGACY_IMAP_URL),
    ...optional('legacyCarddavUrl', set.LEGACY_CARDDAV_URL),
    ...optional('legacySieveUrl', set.LEGACY_SIEVE_URL),
    ...optional('provisioning', service(set.PROVISIONING_URL, set.PROVISIONING_TOKEN)),
    ...optional('trustedMailCertificates', set.TRUSTED_MAIL_CERTIFICATES),
    ...optional('smtpUrl', set.SMTP_URL),
    ...optional('mailFrom', set.MAIL_FROM),
    ...optional('supportEmail', set.SUPPORT_EMAIL),
    ...optional('sms', service(set.SMS_URL, set.SMS_TOKEN)),
    ...optional('connectionsPerAccount', set.CONNECTIONS_PER_ACCOUNT),
    ...optional('footerUrl', set.FOOTER_URL),
    ...optional('dnsServers', set.DNS_SERVERS),
  };
}

/** The path of our own viewer. */
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
  return { url: address, ...optional('token', token) };
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

/** The settings that are built into the portal; none of them is secret. */
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
> & {
  /** Without an SMS gateway, phone numbers are validated but get no messages. */
  readonly sendsNoTexts?: true;
  /** Without an SMTP server, no letters are sent. */
  readonly sendsNoLetters?: true;
  /** Without the legacy service's address book, contacts come from nowhere. */
  readonly bringsNoContacts?: true;
};

export function portalSettings(settings: Settings): PortalSettings {
  const { legacyName, legacyDomains, accessEnd, inQa } = settings;
  const { faqUrl, privacyUrl, termsUrl, destinationMailUrl, footerUrl, supportPhone } = settings;
  const sendsTexts = settings.sandbox || settings.sms !== undefined;
  const sendsLetters = settings.sandbox || settings.smtpUrl !== undefined;
  const bringsContacts = settings.sandbox || settings.legacyCarddavUrl !== undefined;
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
    ...(sendsTexts ? {} : { sendsNoTexts: true }),
    ...(sendsLetters ? {} : { sendsNoLetters: true }),
    ...(bringsContacts ? {} : { bringsNoContacts: true }),
  };
}
