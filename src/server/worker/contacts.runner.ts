import type { Skipped } from '../../contract/calls/status.ts';
import { isOauthProvider } from '../../contract/provider-name.ts';
import { openContactReader, openContactWriter } from '../contacts/open-contacts.ts';
import type { ContactCredentials } from '../contacts/contact-store.ts';
import { copyContacts } from '../contacts/copy-contacts.ts';
import type { Secret } from '../transfers/credentials.ts';
import type { Runner, RunnerServices } from './runner.ts';

/** Copies contacts from address book to address book. */
export const runContacts: Runner = async (run, services) => {
  const { transfer, signal, onProgress } = run;
  const { destinationProvider: provider } = transfer;
  if (!isOauthProvider(provider) || run.destination === null)
    throw new Error(`There is no address book at the provider ${provider}.`);
  const { settings } = services;
  const copied = await copyContacts({
    reader: openContactReader({ settings, credentials: credentialsOf(transfer.sourceEmail, run.source, services) }),
    writer: openContactWriter(provider, {
      settings,
      credentials: credentialsOf(transfer.destinationEmail, run.destination, services),
    }),
    signal,
    onProgress: ({ done, total }) => onProgress({ done, total, bytes: 0 }),
  });
  onProgress({ done: copied.total, total: copied.total, bytes: 0 });
  return { status: 'completed', skipped: [...copied.skipped, ...copied.notes.map(asSkipped)] };
};

/** A contact that was copied, but for something that the destination can't hold. */
function asSkipped({ contact, note }: { contact: string; note: string }): Skipped {
  return { mailbox: 'Contacts', subject: contact, reason: note };
}

export function credentialsOf(email: string, secret: Secret, { tokens }: RunnerServices): ContactCredentials {
  return secret.kind === 'password'
    ? { email, password: secret.password }
    : { email, accessToken: () => tokens.accessToken(secret.tokenId, { resource: 'contacts' }) };
}
