import type { Log } from '../../log.ts';

type Place = { readonly host: string; readonly port: number; readonly security: 'tls' | 'starttls' | 'open' };

/**
 * How TLS is spoken with a mail server. One that may be spoken to in clear is not worse off for offering TLS with a
 * certificate that nobody can check.
 */
export function tlsTowards({ security }: Place): {
  readonly minVersion: 'TLSv1.2';
  readonly rejectUnauthorized: boolean;
} {
  return { minVersion: 'TLSv1.2', rejectUnauthorized: security !== 'open' };
}

export type UncheckedCertificates = (place: Place) => void;

/** Warns once of each host. */
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
