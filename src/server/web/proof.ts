import type { Provider } from '../../contract/provider.ts';
import { isOauthProvider } from '../../contract/provider-name.ts';
import type { Settings } from '../../contract/settings.ts';
import type { Limits } from './limits.ts';
import type { Outcome, SignInLimits } from './sign-in-limits.ts';
import type { Resolver } from '../network/resolver.ts';
import { Refusal } from './refusal.ts';
import type { Visit } from './visit.ts';
import type { Log } from '../log.ts';
import type { SecurityLog } from '../security-log.ts';
import type { Verifiers } from '../transfers/verifiers.ts';
import { placeOf, type MailPlace } from '../mail/imap/connection.ts';
import type { Discovery } from '../mail/discovery/discovery.ts';
import { MailError } from '../mail/imap/mail-error.ts';
import type { UncheckedCertificates } from '../mail/imap/tls.ts';
import { checkSignIn, type SignIn } from '../mail/imap/sign-in.ts';

/** The longest that visitors wait for a mail server. */
export const SIGN_IN_WITHIN_MS = 20_000;

export type Claim = {
  readonly email: string;
  readonly password: string;
  readonly provider: Provider;
  /** `host` or `host:port`; only used with the provider `other`. */
  readonly imap?: string;
};

export type Proofs = {
  /**
   * Proves that a mailbox is the visitor's by signing in to it; attempts are limited.
   * @throws {Refusal} 401, 400 `INVALID_IMAP`, 429 or 502.
   */
  prove(claim: Claim, visit: Visit): Promise<void>;
  /**
   * The same, for access to the transfers of a mailbox that may be gone by now. If it no longer accepts sign-ins, the
   * password is checked against the verifier that an export has kept.
   * @throws {Refusal}
   */
  proveOwner(claim: Claim, visit: Visit): Promise<void>;
};

type Services = {
  readonly settings: Settings;
  readonly resolver: Resolver;
  readonly limits: Pick<Limits, 'take'>;
  readonly signInLimits: Pick<SignInLimits, 'trySignIn'>;
  readonly discovery: Discovery;
  readonly verifiers: Pick<Verifiers, 'check'>;
  readonly securityLog: SecurityLog;
  readonly log: Log;
  readonly onUncheckedCertificate: UncheckedCertificates;
  readonly now: () => number;
};

type Asker = Pick<Visit, 'client' | 'call' | 'solution'> & { readonly browser: string };

export function openProofs(services: Services): Proofs {
  const { settings, resolver, limits, signInLimits, discovery, verifiers, securityLog, log } = services;
  const { onUncheckedCertificate, now } = services;

  async function findPlace(claim: Claim, { client }: Pick<Asker, 'client'>): Promise<MailPlace> {
    try {
      return await placeOf(settings, claim, async (email) => {
        // Discovery queries name servers and web servers of the visitor's choice before any sign-in limit applies.
        await limits.take('look-ups by a client', client);
        return discovery.serverOf(email);
      });
    } catch (error) {
      if (error instanceof MailError) throw refusalOf('unreachable', claim);
      throw error;
    }
  }

  /** Runs to completion and is counted even if the visitor hangs up: the guess has been made. */
  async function signIn(claim: Claim, asker: Asker, checkKept: boolean): Promise<SignIn> {
    const place = await findPlace(claim, asker);
    const facts = { mailbox: claim.email, client: asker.client, what: claim.provider };
    const attempt = {
      ...asker,
      mailbox: claim.email,
      host: place.host,
      hostIsNamed: place.named === 'by visitor',
    };
    const report = await signInLimits.trySignIn(attempt).catch((error: unknown) => {
      if (error instanceof Refusal) securityLog('sign-in not tried: too many', facts);
      throw error;
    });
    let outcome: Outcome = 'unknown';
    try {
      const { email, password } = claim;
      const result = await checkSignIn(
        { email, place, credentials: { kind: 'password', password } },
        { trusted: settings.trustedMailHosts, resolver, onUncheckedCertificate },
      );
      outcome = outcomeOf(result);
      if (!checkKept || result === 'ok' || !mayBeGone(result)) return result;
      const kept = await verifiers.check(email, password);
      if (kept === null) return result;
      outcome = kept ? 'right' : 'wrong';
      return kept ? 'ok' : 'credentials';
    } finally {
      securityLog(outcome === 'right' ? 'sign-in accepted' : 'sign-in refused', facts);
      await report(outcome);
    }
  }

  /** A closed mailbox refuses its password like a wrong one, but only after `accessEnd`. */
  function mayBeGone(result: Exclude<SignIn, 'ok'>): boolean {
    return result !== 'credentials' || now() > Date.parse(settings.accessEnd);
  }

  async function prove(claim: Claim, visit: Visit, checkKept: boolean): Promise<void> {
    if (claim.password === '') throw refusalOf('credentials', claim);
    // The cookie has to be set before the answer, which may precede the end of the sign-in.
    const { client, call, solution } = visit;
    const asker = { client, call, ...(solution === undefined ? {} : { solution }), browser: visit.browser.keep() };
    const { promise: late, resolve } = Promise.withResolvers<SignIn>();
    const timer = setTimeout(resolve, SIGN_IN_WITHIN_MS, 'slow');
    try {
      const result = await Promise.race([signIn(claim, asker, checkKept), late]);
      if (result === 'ok') return;
      tellOperator(result, claim.provider);
      throw refusalOf(result, claim);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Logs failures of servers that the settings name, because only the operator can fix those. */
  function tellOperator(result: Exclude<SignIn, 'ok'>, provider: Provider): void {
    if (result === 'credentials' || (provider !== 'sanbruno' && !isOauthProvider(provider))) return;
    const setting = `${provider === 'sanbruno' ? 'LEGACY' : provider.toUpperCase()}_IMAP_URL`;
    log.error(
      { setting, result },
      'a mail server failed at a sign-in: if it does at every one, is it reachable, and is the setting right?',
    );
  }

  return {
    prove: (claim, visit) => prove(claim, visit, false),
    proveOwner: (claim, visit) => prove(claim, visit, claim.provider === 'sanbruno'),
  };
}

function outcomeOf(result: SignIn): Outcome {
  switch (result) {
    case 'ok':
      return 'right';
    case 'credentials':
    case 'unanswered':
      return 'wrong';
    case 'unreachable':
    case 'certificate':
    case 'slow':
    case 'busy':
      return 'unknown';
  }
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
    case 'unanswered':
      if (named) return new Refusal(400, 'INVALID_IMAP', 'This mail server gave no answer.');
      return new Refusal(502, 'GENERAL_ERROR', unavailable('gave no answer'));
    case 'slow':
      if (named) return new Refusal(400, 'INVALID_IMAP', 'This mail server did not answer in time.');
      return new Refusal(502, 'GENERAL_ERROR', unavailable('did not answer in time'));
    case 'busy':
      return new Refusal(502, 'GENERAL_ERROR', unavailable('is busy right now'));
  }
}

const unavailable = (what: string) =>
  `The mail server ${what}. Your mail is safe. Please try again in a few minutes, or contact support.`;
