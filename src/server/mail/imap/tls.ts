import { X509Certificate } from 'node:crypto';
import { checkServerIdentity, type ConnectionOptions } from 'node:tls';
import { SettingsError, type Settings } from '../../../contract/settings.ts';
import type { Log } from '../../log.ts';

type Place = { readonly host: string; readonly port: number };
type Trust = { readonly security: 'tls' | 'starttls' | 'open'; readonly certificates?: readonly string[] };

/**
 * The TLS options towards a mail server. A server that may be spoken to in clear text may as well have a certificate
 * that can't be verified. A certificate that the operator configured may be for any host; one that it issued must fit
 * the name.
 */
export function tlsTowards({ security, certificates }: Trust): ConnectionOptions & { minVersion: 'TLSv1.2' } {
  const always = { minVersion: 'TLSv1.2', rejectUnauthorized: security !== 'open' } as const;
  if (certificates === undefined) return always;
  const named = new Set(certificates.map(fingerprintOf));
  return {
    ...always,
    ca: [...certificates],
    allowPartialTrustChain: true,
    checkServerIdentity: (host, shown) =>
      named.has(shown.fingerprint256) ? undefined : checkServerIdentity(host, shown),
  };
}

/** SHA-256. */
function fingerprintOf(certificate: string): string {
  return new X509Certificate(certificate).fingerprint256;
}

/** @throws {SettingsError} if one is damaged */
export function requireCertificates({ trustedMailCertificates: certificates }: Settings): void {
  if (certificates === undefined) return;
  try {
    certificates.forEach(fingerprintOf);
  } catch (cause) {
    throw new SettingsError(
      ['TRUSTED_MAIL_CERTIFICATES has one that is damaged. Example: TRUSTED_MAIL_CERTIFICATES_FILE=/etc/ssl/mail.pem'],
      { cause },
    );
  }
}

export type UncheckedCertificates = (place: Place) => void;

/** Warns once about each host and port. */
export function openUncheckedCertificates(log: Log): UncheckedCertificates {
  const told = new Set<string>();
  return ({ host, port }) => {
    const place = `${host}:${port}`;
    if (told.has(place)) return;
    told.add(place);
    log.warn(
      { place },
      'a mail server of TRUSTED_MAIL_HOSTS has a certificate that nobody can check; it is used all the same',
    );
  };
}
