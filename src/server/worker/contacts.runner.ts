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
  const { settings, database, log } = services;
  const onFailure = (failure: WebFailure) =>
    log.warn({ transferId: transfer.id, ...failure }, 'a contacts request failed');
  const sleep: Sleep = (milliseconds, aborted) => services.pause(milliseconds, aborted);
  const compared = await copyContacts({
    reader: openContactReader({
      settings,
      credentials: credentialsOf(transfer.sourceEmail, run.source, services),
      sleep,
      onFailure,
    }),
    writer: openContactWriter(provider, {
      settings,
      credentials: credentialsOf(transfer.destinationEmail, run.destination, services),
      sleep,
      onFailure,
    }),
    fates: openContactFates(database, run.lease),
    sleep,
    signal,
    onProgress: ({ done, total }) => onProgress({ done, total, bytes: 0 }),
    isLastTry: (error) => isLastRun(error, run.idleRuns()),
  });
  const end: OperationEnd = { status: 'completed', measured: compared };
  return compared.lost + compared.duplicated === 0
    ? end
    : { ...end, status: 'review', failure: SENTENCES.contactsDiffer };
};

/** Credentials for an address book; access tokens are fetched when needed. */
export function credentialsOf(email: string, secret: Secret, { tokens }: RunnerServices): ContactCredentials {
  return secret.kind === 'password'
    ? { email, password: secret.password }
    : { email, accessToken: (options) => tokens.accessToken(secret.tokenId, { ...options, resource: 'contacts' }) };
}
