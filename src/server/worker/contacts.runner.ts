import { isOauthProvider } from '../../contract/provider-name.ts';
import { openContactReader, openContactWriter } from '../contacts/open-contacts.ts';
import type { ContactCredentials } from '../contacts/contact-store.ts';
import { copyContacts } from '../contacts/copy-contacts.ts';
import { openContactFates } from '../contacts/fates-table.ts';
import type { Sleep, WebFailure } from '../contacts/web.ts';
import type { Secret } from '../transfers/credentials.ts';
import type { OperationEnd } from '../transfers/operations.ts';
import type { Runner, RunnerServices } from './runner.ts';
import { SENTENCES } from './sentences.ts';
import { isLastRun } from './verdict.ts';

/** Copies contacts from address book to address book. */
export const runContacts: Runner = async (run, services) => {
  const { transfer, signal, onProgress } = run;
  const { destinationProvider: provider } = transfer;
  if (!isOauthProvider(provider) || run.destination === null)
    throw new Error(`There is no address book at the provider ${provider}.`);
  const access = contactAccess(transfer.id, services);
  const compared = await copyContacts({
    reader: openContactReader({
      ...access,
      credentials: credentialsOf(transfer.sourceEmail, run.source, services),
    }),
    writer: openContactWriter(provider, {
      ...access,
      credentials: credentialsOf(transfer.destinationEmail, run.destination, services),
    }),
    fates: openContactFates(services.database, run.lease),
    sleep: access.sleep,
    signal,
    onProgress: ({ done, total }) => onProgress({ done, total, bytes: 0 }),
    isLastTry: (error) => isLastRun(error, run.idleRuns()),
  });
  const end: OperationEnd = { status: 'completed', measured: compared };
  return compared.lost + compared.duplicated === 0
    ? end
    : { ...end, status: 'review', failure: SENTENCES.contactsDiffer };
};

/** What every address book is opened with, but for credentials; each request that fails is logged. */
export function contactAccess(transferId: string, services: RunnerServices) {
  const sleep: Sleep = (milliseconds, aborted) => services.pause(milliseconds, aborted);
  const onFailure = (failure: WebFailure) => services.log.warn({ transferId, ...failure }, 'a contacts request failed');
  return { settings: services.settings, sleep, onFailure };
}

/** Credentials for an address book; access tokens are fetched when needed. */
export function credentialsOf(email: string, secret: Secret, { tokens }: RunnerServices): ContactCredentials {
  return secret.kind === 'password'
    ? { email, password: secret.password }
    : { email, accessToken: (options) => tokens.accessToken(secret.tokenId, { ...options, resource: 'contacts' }) };
}
