import { ContactStoreError } from '../contacts/contact-store.ts';
import { openContactReader } from '../contacts/open-contacts.ts';
import type { ContactsFileFormat } from '../export/archive/contact-files.ts';
import {
  exportMail,
  ExportPaused,
  stageContacts,
  type ExportServices,
  type MailFileFormat,
} from '../export/export.job.ts';
import { Stopped } from '../mail/copy/copy-chunk.ts';
import { openReader } from '../mail/imap/imap-reader.ts';
import type { OperationEnd } from '../transfers/operations.ts';
import { credentialsOf } from './contacts.runner.ts';
import { accountOf, CONNECTIONS_PER_ACCOUNT, openedAt } from './mail.runner.ts';
import { OperationWaits, type Run, type Runner, type RunnerServices } from './runner.ts';
import { SENTENCES } from './sentences.ts';

/** Mail and contacts go into one archive: the one of the two operations that is ready waits so long for the other. */
const TOGETHER_WITHIN_MS = 20_000;
const LOOK_EVERY_MS = 250;

/** Writes mail, and the contacts with it, into files. */
export const runMailExport: Runner = async (run, services) => {
  const { transfer, signal } = run;
  const { contactsFormat } = transfer;
  const account = await accountOf('source', run, services);
  const options = { trusted: services.settings.trustedMailHosts, times: services.times, signal };
  const skipped = await pausable(run, services, () =>
    exportMail(exportServices(services), {
      transferId: transfer.id,
      format: mailFormatOf(transfer.emailFormat),
      ...(contactsFormat === undefined ? {} : { contactsFormat: contactsFormatOf(contactsFormat) }),
      openReader: () => openedAt('source', () => openReader(account, options)),
      connections: services.settings.connectionsPerAccount ?? CONNECTIONS_PER_ACCOUNT,
      pause: services.pause,
      signal,
      onProgress: run.onProgress,
      contactsSettled: () => until(run, services, contactsAreSettled),
    }),
  );
  return { status: 'completed', skipped, measured: { lost: skipped.length, duplicated: 0, changed: 0 } };
};

/** Reads the contacts for the archive; it has ended when the archive has been written, which the mail's run does. */
export const runContactsExport: Runner = async (run, services) => {
  const { transfer, signal } = run;
  try {
    const { skipped } = await pausable(run, services, () =>
      stageContacts(exportServices(services), {
        transferId: transfer.id,
        reader: openContactReader({
          settings: services.settings,
          credentials: credentialsOf(transfer.sourceEmail, run.source, services),
        }),
        signal,
        onProgress: run.onProgress,
      }),
    );
    await until(run, services, mailHasEnded);
    return (await isOffered(run, services))
      ? { status: 'completed', skipped }
      : interrupted(SENTENCES.exportWithoutMail);
  } catch (error) {
    if (!(error instanceof ContactStoreError)) throw error;
    switch (error.fault) {
      case 'authentication':
        return { status: 'authentication_error', failure: SENTENCES.sourceCredentials };
      case 'refused':
      case 'unexpected':
      case 'full':
        return interrupted(SENTENCES.contactsUnreadable);
      case 'unavailable':
        throw error;
    }
  }
};

function interrupted(failure: string): OperationEnd {
  return { status: 'review', failure };
}

function exportServices({ database, settings, log, exports }: RunnerServices): ExportServices {
  return { database, settings, log, exports, now: () => Date.now() };
}

/** While there is no room, the status says so; it is tried again by itself. */
async function pausable<Result>(run: Run, { database }: RunnerServices, work: () => Promise<Result>): Promise<Result> {
  const note = (status: string, failure: string | null) =>
    database.query(
      `update operations set status = $3, failure = $4, idle_runs = case when $3 = 'error' then 0 else idle_runs end
       where transfer_id = $1 and operation = $2 and finished is null`,
      [run.transfer.id, run.operation, status, failure],
    );
  await note('inprogress', null);
  try {
    return await work();
  } catch (error) {
    if (error instanceof ExportPaused) await note('error', SENTENCES.exportPaused);
    throw error;
  }
}

type Question = (run: Run, services: RunnerServices) => Promise<boolean>;

/** @throws {OperationWaits} when it takes longer */
async function until(run: Run, services: RunnerServices, isSo: Question): Promise<void> {
  for (let waited = 0; waited < TOGETHER_WITHIN_MS; waited += LOOK_EVERY_MS) {
    if (await isSo(run, services)) return;
    await services.pause(LOOK_EVERY_MS, run.signal);
    if (run.signal.aborted) throw new Stopped('The export was asked to stop.');
  }
  throw new OperationWaits('The other operation of the export is not so far.');
}

const contactsAreSettled: Question = async ({ transfer }, { database }) => {
  const rows = await database.query(
    `select 1 from operations join exports using (transfer_id) where transfer_id = $1
       and operation = 'contactsmigration' and operations.finished is null and contacts_staged is null`,
    [transfer.id],
  );
  return rows.length === 0;
};

const mailHasEnded: Question = async (run, services) => {
  const rows = await services.database.query(
    `select 1 from operations where transfer_id = $1 and operation = 'emailmigration' and finished is null`,
    [run.transfer.id],
  );
  return rows.length === 0 || isOffered(run, services);
};

const isOffered: Question = async ({ transfer }, { database }) => {
  const rows = await database.query('select 1 from exports where transfer_id = $1 and finished is not null', [
    transfer.id,
  ]);
  return rows.length > 0;
};

function mailFormatOf(format: string | undefined): MailFileFormat {
  if (format === 'eml' || format === 'mbox') return format;
  throw new Error(`There is no writer for the format ${format}, so it can not have been ordered.`);
}

function contactsFormatOf(format: string): ContactsFileFormat {
  if (format === 'csv' || format === 'vcf') return format;
  throw new Error(`There is no writer for the format ${format}, so it can not have been ordered.`);
}
