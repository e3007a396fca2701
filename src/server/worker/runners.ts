import { runContacts } from './contacts.runner.ts';
import { endExportedContacts, runContactsStaging, runMailStaging, writeExport } from './export.runner.ts';
import { runForwarding } from './forwarding.runner.ts';
import { copyMail, finishMail } from './mail.runner.ts';
import type { StepName } from './plan.ts';
import type { Runner } from './runner.ts';

export const RUNNERS: Readonly<Record<StepName, Runner>> = {
  'copy contacts': runContacts,
  'copy mail': copyMail,
  'set up forwarding': runForwarding,
  'finish mail': finishMail,
  'stage contacts': runContactsStaging,
  'stage mail': runMailStaging,
  'write archive': writeExport,
  'end contacts': endExportedContacts,
};
