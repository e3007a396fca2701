import type { Provider } from '../../contract/provider.ts';
import { markOf } from '../forwarding/mark.ts';
import type { Log } from '../log.ts';
import { copyAndCompare, copyWhatIsThere } from '../mail/copy/copy-mail.ts';
import { openLedger } from '../mail/copy/ledger/on-database.ts';
import { countSkippedMessages } from '../mail/copy/ledger/report.ts';
import { noteMadeFolders } from '../mail/copy/ledger/take-back-records.ts';
import type { CopyDestination, MailCopy } from '../mail/copy/run/mail-copy.ts';
import { limitsOf } from '../mail/copy/run/provider-limits.ts';
import { SIZES } from '../mail/copy/run/sizes.ts';
import { forgetIfAllRefused } from '../mail/copy/troubles/all-refused.ts';
import { placeOf, type Credentials, type MailAccount } from '../mail/imap/connection.ts';
import { openControl } from '../mail/imap/control.ts';
import { heldControl } from '../mail/imap/hold.ts';
import { MailError } from '../mail/imap/mail-error.ts';
import { providerOfServer } from '../mail/imap/providers.ts';
import { openDial } from '../mail/imap/wire/dial.ts';
import { openStreamReader } from '../mail/imap/wire/imap-stream-reader.ts';
import { knownOf, openStreamWriter } from '../mail/imap/wire/imap-stream-writer.ts';
import { openSession } from '../mail/imap/wire/session.ts';
import type { Role, Secret } from '../transfers/credentials.ts';
import { noteDestinationPlace } from '../transfers/transfer.ts';
import { awaitDeliveries } from './forwarding.runner.ts';
import type { Run, Runner, RunnerServices } from './runner.ts';
import { SENTENCES } from './sentences.ts';

/** Copies the existing mail, before forwarding begins. */
export const copyMail: Runner = async (run, services) => {
  await copyWhatIsThere(await copyOf(run, services));
  return null;
};

/** Copies what has not been copied yet, and compares both sides. */
export const finishMail: Runner = async (run, services) => {
  await awaitDeliveries(run, services);
  const copy = await copyOf(run, services);
  const { lost, duplicated, changed, kept, unlisted, mailboxesLeft } = await copyAndCompare(copy);
  if (await forgetIfAllRefused(copy.ledger))
    await openedAt('destination', () =>
      Promise.reject(new MailError('refused', 'The destination refused every message.')),
    );
  const measured = { lost, duplicated, changed };
  if (lost + duplicated + changed > 0)
    return { status: 'review', measured, kept, failure: SENTENCES.differs(measured, mailboxesLeft) };
  if (unlisted > 0 || mailboxesLeft > 0) {
    const skipped = await countSkippedMessages(services.database, run.transfer.id);
    return { status: 'review', measured, kept, failure: SENTENCES.incomplete({ unlisted, mailboxesLeft, skipped }) };
  }
  return { status: 'completed', measured, kept };
};

async function copyOf(run: Run, services: RunnerServices): Promise<MailCopy> {
  const { transfer, signal, lease } = run;
  const { clock, log, database } = services;
  const source = await openMailSide('source', run, services);
  const account = await accountOf('destination', run, services);
  const { host, port } = account.place;
  await noteDestinationPlace(database, lease, `${host}:${port}`);
  return {
    source,
    destination: sideOf('destination', account, run, services),
    ledger: openLedger(database, lease),
    lease,
    clock,
    signal,
    processEnds: services.processEnds,
    onStep: services.onStep,
    onProgress: run.onProgress,
    // Notes the folders that were made, so that they can be taken back.
    onMade: noteMadeFolders(database, lease),
    onOrphans: tellOfOrphans(log, transfer.id),
    forwardedMark: markOf(transfer.destinationEmail),
    refusalWaits: run.refusalWaits,
    troubleWaits: run.troubleWaits,
    sizes: SIZES,
  };
}

/** Logs the mailbox by its number in the ledger: its name is the subscriber's own, and may be an address. */
export function tellOfOrphans(log: Log, transferId: string): MailCopy['onOrphans'] {
  return ({ id: mailbox }, { uids, unsaid }) =>
    log.error(
      { transferId, mailbox, uids, unsaid },
      'messages were stored, and could neither be noted nor taken back: they may be there twice',
    );
}

type SideRun = Pick<Run, 'transfer' | 'destination' | 'signal' | 'lease'> & { readonly source: Secret | null };

/**
 * How to reach one of the accounts of a run; each connection checks the lease before it writes.
 * @throws {MailError} when its server can't be found
 */
export async function openMailSide(role: Role, run: SideRun, services: RunnerServices): Promise<CopyDestination> {
  return sideOf(role, await accountOf(role, run, services), run, services);
}

function sideOf(role: Role, account: MailAccount, run: SideRun, services: RunnerServices): CopyDestination {
  const { transfer, signal, lease } = run;
  const { settings, times, resolver, clock, onUncheckedCertificate } = services;
  const options = { trusted: settings.trustedMailHosts, times, resolver, signal, onUncheckedCertificate };
  const dial = openDial(options);
  const hold = services.holds(`${account.place.host}:${account.place.port} ${account.email}`, transfer.id);
  const session = (evenStopped = false) =>
    openedAt(role, () =>
      openSession(account, {
        dial,
        clock,
        times,
        hold,
        mayWrite: lease.mayWrite,
        role,
        compress: settings.compressMail,
        ...(evenStopped ? { isUrgent: true } : { signal }),
      }),
    );
  const learnt = knownOf(providerOfServer(account.place.host));
  const provider = role === 'source' ? transfer.sourceProvider : transfer.destinationProvider;
  return {
    limits: limitsOf(provider, settings.connectionsPerAccount, account.place.host),
    control: async () => {
      const control = await openedAt(role, () => heldControl(hold, () => openControl(account, options), signal));
      return {
        ...control,
        namespace: () => openedAt(role, () => control.namespace()),
        mailboxes: (asked) => openedAt(role, () => control.mailboxes(asked)),
      };
    },
    reader: async () => openStreamReader(await session()),
    writer: async (late) => openStreamWriter(await session(late?.evenStopped === true), learnt),
  };
}

/**
 * A mail account of a run.
 * @throws {MailError} when its server can't be found
 */
async function accountOf(
  role: Role,
  run: Pick<SideRun, 'transfer' | 'source' | 'destination'>,
  services: RunnerServices,
): Promise<MailAccount> {
  const { transfer } = run;
  const secret = role === 'source' ? run.source : run.destination;
  if (secret === null) throw new Error('This account has no credentials, so there is no mailbox.');
  const account: { email: string; provider: Provider; imap?: string } =
    role === 'source'
      ? { email: transfer.sourceEmail, provider: transfer.sourceProvider }
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

/** Marks a fault with the account that it concerns. */
export async function openedAt<Opened>(role: Role, open: () => Promise<Opened>): Promise<Opened> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof MailError) error.account = role;
    throw error;
  }
}
