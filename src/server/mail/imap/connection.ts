import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { readHost } from '../../../contract/mail-host.ts';
import { type Provider } from '../../../contract/provider.ts';
import { isOauthProvider } from '../../../contract/provider-name.ts';
import type { Settings } from '../../../contract/settings.ts';
import { HostError, isTrusted, resolvePublicHost, type Target, towards } from '../../network/public-address.ts';
import type { Resolver } from '../../network/resolver.ts';
import { MailError } from './mail-error.ts';

const IMAPS_PORT = 993;
const IMAP_PORT = 143;

/** How long to wait for a mail server, in milliseconds. */
export type MailTimes = {
  /** Name resolution, TCP and TLS together. */
  readonly connect: number;
  readonly greeting: number;
  /** How long a server that owes an answer may send nothing. */
  readonly silence: number;
};
export const MAIL_TIMES: MailTimes = { connect: 20_000, greeting: 15_000, silence: 180_000 };

/**
 * Where an account's server is reached. `tls`: encrypted from the first octet; `starttls`: before the sign-in, or not
 * used; `open`: encrypted only if the server offers it, for hosts that the operator trusts. `named`: a host that a
 * visitor named must be public, which is checked anew for each connection.
 */
export type MailPlace = {
  readonly host: string;
  readonly port: number;
  readonly security: 'tls' | 'starttls' | 'open';
  readonly named: 'by operator' | 'by visitor';
  /** In PEM: the server's certificate must be one of these, or be issued by one of them. */
  readonly certificates?: readonly string[];
};

/** A token is fetched for each connection; `renew` asks for a new one because the last was refused. */
export type Credentials =
  | { readonly kind: 'password'; readonly password: string }
  | { readonly kind: 'token'; readonly accessToken: (options?: { renew?: boolean }) => Promise<string> };

export type MailAccount = { readonly email: string; readonly place: MailPlace; readonly credentials: Credentials };

type PlaceSettings = Pick<Settings, 'legacyImapUrl' | 'providers' | 'trustedMailHosts' | 'trustedMailCertificates'>;

/** Finds the server of an address whose owner named none; `null` when it can't be found. */
export type Discover = (email: string) => Promise<{ readonly host: string; readonly port: number } | null>;

/**
 * Where the account of a provider is reached.
 * @param account `imap` is `host` or `host:port`, as the visitor gave it; it counts only with the provider `other`.
 * @throws {MailError} `unreachable` when there is no such place.
 */
export async function placeOf(
  settings: PlaceSettings,
  account: { readonly email: string; readonly provider: Provider; readonly imap?: string },
  discover: Discover,
): Promise<MailPlace> {
  const { provider } = account;
  if (provider === 'sanbruno') {
    if (settings.legacyImapUrl === undefined)
      throw new MailError('unreachable', 'LEGACY_IMAP_URL is not set, so there is no legacy mail server.');
    return operatorsPlace(settings.legacyImapUrl, settings);
  }
  if (isOauthProvider(provider)) return operatorsPlace(settings.providers[provider].imapUrl, settings);
  if (provider === 'file_export') throw new MailError('unreachable', 'A file export has no mail server.');
  if (account.imap !== undefined) return visitorsPlace(account.imap, settings);
  const found = await discover(account.email);
  if (found === null) throw new MailError('unreachable', 'No mail server was found for the domain.');
  return visitorsPlace(`${found.host}:${found.port}`, settings);
}

function operatorsPlace(address: string, settings: PlaceSettings): MailPlace {
  const url = new URL(address);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const secure = url.protocol === 'imaps:';
  const port = url.port === '' ? (secure ? IMAPS_PORT : IMAP_PORT) : Number(url.port);
  const trust = trustIn(host, port, settings);
  return { host, port, named: 'by operator', ...trust, security: secure ? 'tls' : trust.security };
}

type TrustSettings = Pick<Settings, 'trustedMailHosts' | 'trustedMailCertificates'>;

/** The security of a connection that does not begin with TLS. */
export function trustIn(
  host: string,
  port: number,
  { trustedMailHosts, trustedMailCertificates: certificates }: TrustSettings,
): { readonly security: 'starttls' | 'open'; readonly certificates?: readonly string[] } {
  if (!isTrusted(host, port, trustedMailHosts)) return { security: 'starttls' };
  return certificates === undefined ? { security: 'open' } : { security: 'starttls', certificates };
}

function visitorsPlace(text: string, settings: PlaceSettings): MailPlace {
  const given = readHost(text);
  // One host name has many spellings (UTS #46): limits, trust and the connection all use its ASCII form.
  const read = given === null ? null : { ...given, name: domainToASCII(given.name) };
  // `0x7f.0x1` is an address in another spelling: nobody may name one, such as that of a host that the operator trusts.
  if (read === null || read.name === '' || isIP(read.name) > 0)
    throw new MailError('unreachable', 'The mail server is not a host name.');
  const port = read.port ?? IMAPS_PORT;
  const trust = trustIn(read.name, port, settings);
  const isByTls = port === IMAPS_PORT || (port !== IMAP_PORT && !isTrusted(read.name, port, settings.trustedMailHosts));
  return { host: read.name, port, named: 'by visitor', ...trust, security: isByTls ? 'tls' : trust.security };
}

/**
 * What to connect to, and the name for SNI and the certificate. A name that the operator configured is not checked; the
 * connection itself resolves it.
 * @throws {MailError}
 */
export async function targetOf(
  place: MailPlace,
  trusted: readonly string[],
  resolver: Resolver | undefined,
): Promise<{ readonly target: Target; readonly servername: string }> {
  if (place.named === 'by operator') return { target: { host: place.host }, servername: place.host };
  try {
    const checked = await resolvePublicHost(place.host, place.port, {
      trusted,
      ...(resolver === undefined ? {} : { resolver }),
    });
    return { target: towards(checked), servername: checked.servername };
  } catch (cause) {
    if (cause instanceof HostError) throw new MailError('unreachable', cause.message, { cause });
    throw cause;
  }
}
