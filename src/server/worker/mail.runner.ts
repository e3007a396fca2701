import type { Provider } from '../../contract/provider.ts';
import { markOf } from '../forwarding/mark.ts';
import { placeOf, type Credentials, type MailAccount } from '../mail/imap/connection.ts';
import { openReader } from '../mail/imap/imap-reader.ts';
import { openWriter } from '../mail/imap/imap-writer.ts';
import { MailError } from '../mail/imap/mail-error.ts';
import { openLedger } from '../mail/copy/ledger.ts';
import type { OperationEnd } from '../transfers/operations.ts';
import type { Role, Secret } from '../transfers/credentials.ts';
import { copyWhatIsThere, moveMail, type MailMove } from '../mail/copy/move-mail.ts';
import type { Run, Runner, RunnerServices } from './runner.ts';
import { SENTENCES } from './sentences.ts';

export const CONNECTIONS_PER_ACCOUNT = 4;

/** Copies the mail that is there, before forwarding begins. */
export const copyMail: Runner = async (run, services) => {
  await copyWhatIsThere(await moveOf(run, services));
  return null;
};

/** Copies what is not copied yet, and compares both sides. */
export const finishMail: Runner = async (run, services) => {
  const measured = await moveMail(await moveOf(run, services));
  const end: OperationEnd = { status: 'completed', measured };
  return measured.lost + measured.duplicated + measured.changed === 0
    ? end
    : { ...end, status: 'review', failure: SENTENCES.differs(measured) };
};

async function moveOf(run: Run, services: RunnerServices): Promise<MailMove> {
  const { transfer, signal } = run;
  const source = await accountOf('source', run, services);
  const destination = await accountOf('destination', run, services);
  const { settings, times, resolver, onUncheckedCertificate } = services;
  const options = { trusted: settings.trustedMailHosts, times, resolver, signal, onUncheckedCertificate };
  return {
    ledger: openLedger(services.database, run.lease),
    openReader: () => openedAt('source', () => openReader(source, options)),
    openWriter: () => openedAt('destination', () => openWriter(destination, options)),
    openChecker: () => openedAt('destination', () => openReader(destination, options)),
    connections: services.settings.connectionsPerAccount ?? CONNECTIONS_PER_ACCOUNT,
    signal,
    pause: services.pause,
    onStep: services.onStep,
    onProgress: run.onProgress,
    forwardedMark: markOf(transfer.destinationEmail),
  };
}

/**
 * A mail account of a run.
 * @throws {MailError} when its server can't be found
 */
export async function accountOf(role: Role, run: Run, services: RunnerServices): Promise<MailAccount> {
  const { transfer } = run;
  const secret = role === 'source' ? run.source : run.destination;
  if (secret === null) throw new Error('This account has no credentials, so there is no mailbox.');
  const account: { email: string; provider: Provider; imap?: string } =
    role === 'source'
      ? {
          email: transfer.sourceEmail,
          provider: transfer.sourceProvider,
          ...(transfer.sourceImap === undefined ? {} : { imap: transfer.sourceImap }),
        }
      : {
          email: transfer.destinationEmail,
          provider: transfer.destinationProvider,
          ...(transfer.destinationImap === undefined ? {} : { imap: transfer.destinationImap }),
        };
  const place = await openedAt(role, () => placeOf(services.settings, account, services.discover));
  return { email: account.email, place, credentials: credentialsOf(secret, services) };
}

function credentialsOf(secret: Secret, { tokens }: RunnerServices): Credentials {
  if (secret.kind === 'password') return secret;
  return { kind: 'token', accessToken: (options) => tokens.accessToken(secret.tokenId, options) };
}

/** Notes on a fault which of the two accounts has it. */
export async function openedAt<Opened>(role: Role, open: () => Promise<Opened>): Promise<Opened> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof MailError) error.account = role;
    throw error;
  }
}
