import { OAUTH_PROVIDERS } from '../provider-name.ts';
import type { Values } from './variables.ts';

/** What is spoken to, or reached, at these addresses must not be read on the way: passwords, tokens, contacts. */
export const CLEAR_TEXT_SETTINGS = [
  'PUBLIC_URL',
  'PROVISIONING_URL',
  'SMS_URL',
  'SMTP_URL',
  'LEGACY_CARDDAV_URL',
  ...OAUTH_PROVIDERS.flatMap((provider) => {
    const name = provider.toUpperCase() as Uppercase<typeof provider>;
    return [`${name}_ISSUER`, `${name}_CONTACTS_URL`] as const;
  }),
] as const;

/** Nothing leaves this machine on the way to such a host. */
export function isLoopback(address: string): boolean {
  const host = URL.parse(address)?.hostname ?? '';
  return host === 'localhost' || host === '[::1]' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}

/** A line for each setting whose address is in clear text and away from this machine, unless ALLOW_CLEAR_TEXT names it. */
export function clearTextProblems(set: Values): string[] {
  const allowed: readonly string[] = set.ALLOW_CLEAR_TEXT ?? [];
  return CLEAR_TEXT_SETTINGS.filter((name) => {
    const address = set[name];
    return address?.startsWith('http://') === true && !isLoopback(address) && !allowed.includes(name);
  }).map(
    (name) =>
      `${name} must start with https://, since what goes there must not be read on the way. If the way is safe, say so: ALLOW_CLEAR_TEXT=${name}`,
  );
}

/** What prints passwords, or shows what a visitor types, stays on this machine. */
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
