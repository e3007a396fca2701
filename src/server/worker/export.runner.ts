import type { EmailFormat } from '../../contract/export-format.ts';
import { refusedBy } from '../../contract/transfer-status.ts';
import { ContactStoreError } from '../contacts/contact-store.ts';
import { openContactReader } from '../contacts/open-contacts.ts';
import { stageContacts, stageMail, writeArchives, type ExportServices, type MailExport } from '../export/export.job.ts';
import { openExport } from '../export/staging/staged-messages.ts';
import type { OperationEnd } from '../transfers/operations.ts';
import { contactAccess, credentialsOf } from './contacts.runner.ts';
import { openedAt, openMailSide } from './mail.runner.ts';
import type { Run, Runner, RunnerServices } from './runner.ts';
import { SENTENCES } from './sentences.ts';
import { delaysExport } from './verdict.ts';

export const runMailStaging: Runner = async (run, services) => {
  await atSource(async () => stageMail(exportServices(services), await mailExportOf(run, services)));
  return null;
};

export const writeExport: Runner = async (run, services) => {
  const skipped = await atSource(async () =>
    writeArchives(exportServices(services), await mailExportOf(run, services)),
  );
  const { mailUnsaved } = await openExport(services.database, run.transfer.id);
  const lost = mailUnsaved ?? refusedBy({ skipped });
  return { status: 'completed', skipped, measured: { lost, duplicated: 0, changed: 0 } };
};

/** Reads the contacts for the archive. */
export const runContactsStaging: Runner = async (run, services) => {
  const { transfer, lease, signal, onProgress } = run;
  try {
    await stageContacts(exportServices(services), {
      transferId: transfer.id,
      lease,
      reader: openContactReader({
        ...contactAccess(transfer.id, services),
        credentials: credentialsOf(transfer.sourceEmail, run.source, services),
      }),
      signal,
      onProgress,
    });
    return null;
  } catch (error) {
    if (!(error instanceof ContactStoreError)) throw error;
    services.log.warn({ err: error, transferId: transfer.id }, 'the contacts of an export could not be read');
    switch (error.fault) {
      case 'authentication':
        return { status: 'authentication_error', failure: SENTENCES.contactsUnreadable };
      case 'refused':
      case 'unexpected':
        if (delaysExport(error, run.idleRuns())) throw error;
        return interrupted(SENTENCES.contactsUnreadable);
      case 'full':
        return interrupted(SENTENCES.contactsUnreadable);
      case 'too many':
        return interrupted(SENTENCES.contactsTooManyForFiles);
      case 'unavailable':
        if (!delaysExport(error, run.idleRuns())) return interrupted(SENTENCES.contactsUnreachableForFiles);
        throw error;
    }
  }
};

/** The contacts end with the archive that holds them. */
export const endExportedContacts: Runner = async ({ transfer }, services) => {
  const { finished, contactsSkipped } = await openExport(services.database, transfer.id);
  return finished === null
    ? interrupted(SENTENCES.exportWithoutMail)
    : { status: 'completed', skipped: contactsSkipped ?? [] };
};

/** An export has no second mail server. */
function atSource<Done>(work: () => Promise<Done>): Promise<Done> {
  return openedAt('source', work);
}

function interrupted(failure: string): OperationEnd {
  return { status: 'review', failure };
}

function exportServices({ database, settings, log, exports }: RunnerServices): ExportServices {
  return { database, settings, log, exports, now: () => Date.now() };
}

async function mailExportOf(run: Run, services: RunnerServices): Promise<MailExport> {
  const { transfer, lease, signal, onProgress, refusalWaits, troubleWaits } = run;
  const { contactsFormat, operations } = transfer;
  const hasContacts = contactsFormat !== undefined && operations.includes('contactsmigration');
  return {
    transferId: transfer.id,
    lease,
    format: mailFormatOf(transfer.emailFormat),
    ...(hasContacts ? { contactsFormat } : {}),
    source: await openMailSide('source', run, services),
    clock: services.clock,
    signal,
    onProgress,
    refusalWaits,
    troubleWaits,
  };
}

function mailFormatOf(format: EmailFormat | undefined): EmailFormat {
  if (format !== undefined) return format;
  throw new Error('An export without a format for mail can not have been ordered.');
}
