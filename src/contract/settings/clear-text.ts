import { OAUTH_PROVIDERS } from '../provider-name.ts';
import type { Values } from './variables.ts';

/** The traffic to these addresses carries passwords, tokens or contacts, and must not be readable in transit. */
export const CLEAR_TEXT_SETTINGS = [
  'PUBLIC_URL',
  'DATABASE_URL',
  'EXPORTS_URL',
  'PROVISIONING_URL',
  'SMS_URL',
  'SMTP_URL',
  'LEGACY_CARDDAV_URL',
  ...OAUTH_PROVIDERS.flatMap((provider) => {
    const name = provider.toUpperCase() as Uppercase<typeof provider>;
    return [`${name}_ISSUER`, `${name}_CONTACTS_URL`] as const;
  }),
] as const;

/** Whether the traffic to an address stays on this machine. */
export function isLoopback(address: string): boolean {
  const host = URL.parse(address)?.hostname ?? '';
  return host === 'localhost' || host === '[::1]' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}

/** A line for each setting whose address is remote and without TLS, unless ALLOW_CLEAR_TEXT names it. */
export function clearTextProblems(set: Values): string[] {
  const allowed: readonly string[] = set.ALLOW_CLEAR_TEXT ?? [];
  return CLEAR_TEXT_SETTINGS.flatMap((name) => {
    const address = set[name];
    const wanted = address === undefined || allowed.includes(name) ? null : wantedOf(name, address);
    return wanted === null
      ? []
      : `${name} must ${wanted}, since what goes there must not be read on the way. If the way is safe, say so: ALLOW_CLEAR_TEXT=${name}`;
  });
}

/** What an address without TLS must have instead; `null` if the address is fine. */
function wantedOf(name: (typeof CLEAR_TEXT_SETTINGS)[number], address: string): string | null {
  if (name === 'DATABASE_URL') return isDatabaseInClear(address) ? 'have sslmode=verify-full' : null;
  if (name === 'EXPORTS_URL') {
    const endpoint = URL.parse(address)?.searchParams.get('endpoint') ?? '';
    return isInClear(endpoint) ? 'have an endpoint that starts with https://' : null;
  }
  return isInClear(address) ? 'start with https://' : null;
}

function isInClear(address: string): boolean {
  return URL.parse(address)?.protocol === 'http:' && !isLoopback(address);
}

/** An empty host, or one that is a folder, means a Unix socket on this machine. */
function isDatabaseInClear(address: string): boolean {
  const url = URL.parse(address);
  if (url === null) return false;
  const { hostname, searchParams } = url;
  // Of repeated parameters, pg takes the last.
  const last = (name: string) => searchParams.getAll(name).at(-1);
  const host = last('host') ?? decodeURIComponent(hostname);
  if (host === '' || host.startsWith('/') || isLoopback(`http://${host}`)) return false;
  const mode = last('sslmode') ?? '';
  // With libpq's semantics, all modes but verify-full accept certificates for another host.
  return searchParams.has('uselibpqcompat')
    ? mode !== 'verify-full'
    : !/^(?:require|verify-ca|verify-full)$/.test(mode);
}

/** What prints passwords, or shows what visitors type, must not be public. */
export function publicProblems(set: Values, sandboxed: boolean): string[] {
  const isPublic =
    (set.PUBLIC_URL !== undefined && !isLoopback(set.PUBLIC_URL)) ||
    (set.HOST !== undefined && !isLoopback(`http://${set.HOST.includes(':') ? `[${set.HOST}]` : set.HOST}`));
  if (!isPublic) return [];
  return [
    ...(sandboxed
      ? [
          'SANDBOX must be off at a public address: its passwords are printed. Example: LEGACY_IMAP_URL=imaps://imap.example.com:993',
        ]
      : []),
    ...(set.INSPECT !== undefined && set.INSPECT !== 'off'
      ? ['INSPECT must be off at a public address: it shows what a visitor types. Example: INSPECT=off']
      : []),
  ];
}
