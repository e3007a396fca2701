import type { Operation } from '../../contract/operation.ts';
import type { Transfer } from '../transfers/operations.ts';
import { runContacts } from './contacts.runner.ts';
import { runContactsExport, runMailExport } from './export.runner.ts';
import { runForwarding } from './forwarding.runner.ts';
import { runMail } from './mail.runner.ts';
import type { Runner } from './runner.ts';

/** Chooses what does an operation, by where it goes. */
export function runnerOf(transfer: Transfer, operation: Operation): Runner {
  const isExport = transfer.destinationProvider === 'file_export';
  switch (operation) {
    case 'emailmigration':
      return isExport ? runMailExport : runMail;
    case 'contactsmigration':
      return isExport ? runContactsExport : runContacts;
    case 'emailforwarding':
      return runForwarding;
  }
}
