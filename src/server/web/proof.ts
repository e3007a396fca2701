import type { Provider } from '../../contract/provider.ts';
import type { Settings } from '../../contract/settings.ts';
import type { Limits, Outcome } from './limits.ts';
import type { Log } from '../log.ts';
import type { Resolver } from '../network/resolver.ts';
import { Refusal } from './refusal.ts';
import type { Visit } from './visit.ts';
import { placeOf, type MailPlace } from '../mail/imap/connection.ts';
import type { Discovery } from '../mail/discovery/discovery.ts';
import { MailError } from '../mail/imap/mail-error.ts';
import type { UncheckedCertificates } from '../mail/imap/tls.ts';
import { checkSignIn, type SignIn } from '../mail/imap/sign-in.ts';

/** The longest that a visitor waits for a mail server. */
export const SIGN_IN_WITHIN_MS = 20_000;

export type Claim = {
  readonly email: string;
  readonly password: string;
  readonly provider: Provider;
  /** `host` or `host:port`; counts with the provider `other` only. */
  readonly imap?: string;
};

export type Proofs = {
  /**
   * Proves that a visitor has a mailbox, by signing in to it; attempts are limited.
   * @throws {Refusal} 401, 400 `INVALID_IMAP`, 429 or 502.
   */
  prove(claim: Claim, visit: Visit): Promise<void>;
};

type Services = {
  readonly settings: Settings;
  readonly resolver: Resolver;
  readonly limits: Limits;
  readonly discovery: Discovery;
  readonly log: Log;
  readonly onUncheckedCertificate: UncheckedCertificates;
};

export function openProofs({ settings, resolver, limits, discovery, log, onUncheckedCertificate }: Services): Proofs {
  async function findPlace(claim: Claim): Promise<MailPlace> {
    try {
      return await placeOf(settings, claim, async (email) => (await discovery.find(email))?.imap ?? null);
    } catch (error) {
      if (error instanceof MailError) throw refusalOf('unreachable', claim);
      throw error;
    }
  }

  return {
    prove: async (claim, { client, signal }) => {
      if (claim.password === '') throw refusalOf('credentials', claim);
      const place = await findPlace(claim);
      const report = await limits.trySignIn({
        mailbox: claim.email,
        host: place.host,
        hostIsNamed: place.named === 'by visitor',
        client,
      });
      const deadline = AbortSignal.timeout(SIGN_IN_WITHIN_MS);
      let outcome: Outcome = 'unknown';
      try {
        const result = await checkSignIn(
          { email: claim.email, place, credentials: { kind: 'password', password: claim.password } },
          {
            trusted: settings.trustedMailHosts,
            resolver,
            onUncheckedCertificate,
            signal: AbortSignal.any([signal, deadline]),
          },
        ).catch((error: unknown): SignIn => {
          if (deadline.aborted || signal.aborted) return 'slow';
          throw error;
        });
        outcome = result === 'ok' ? 'right' : result === 'credentials' ? 'wrong' : 'unknown';
        if (result === 'ok') return;
        log.info({ provider: claim.provider, result }, 'a sign-in was refused');
        throw refusalOf(result, claim);
      } finally {
        await report(outcome);
      }
    },
  };
}

function refusalOf(result: Exclude<SignIn, 'ok'>, { provider }: Claim): Refusal {
  const named = provider === 'other';
  switch (result) {
    case 'credentials':
      return new Refusal(401, 'INVALID_CREDENTIALS', 'Incorrect email or password.');
    case 'unreachable':
      return named
        ? new Refusal(400, 'INVALID_IMAP', 'Could not resolve IMAP host.')
        : new Refusal(502, 'GENERAL_ERROR', unavailable('can’t be reached right now'));
    case 'certificate':
      return named
        ? new Refusal(400, 'INVALID_IMAP', 'This mail server has no safe connection, so your password was not sent.')
        : new Refusal(
            502,
            'GENERAL_ERROR',
            unavailable('could not show that it is the right one, so your password was not sent'),
          );
    case 'slow':
      if (named) return new Refusal(400, 'INVALID_IMAP', 'This mail server did not answer in time.');
      return new Refusal(502, 'GENERAL_ERROR', unavailable('did not answer in time'));
    case 'busy':
      return new Refusal(502, 'GENERAL_ERROR', unavailable('is busy right now'));
  }
}

const unavailable = (what: string) =>
  `The mail server ${what}. Your mail is safe. Please try again in a few minutes, or contact support.`;
