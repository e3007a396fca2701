import * as v from 'valibot';
import { DestinationAccount, SourceAccount } from '../account.ts';
import { ContactsFormat, EmailFormat } from '../export-format.ts';
import { ImapHost } from '../host.ts';
import { Operation } from '../operation.ts';
import { NotificationContact, TransferId } from '../transfer.ts';
import type { Call } from './call.ts';

const LoadRequest = v.pipe(
  v.object({
    source_account: SourceAccount,
    destination_account: DestinationAccount,
    operations: v.pipe(v.array(Operation), v.minLength(1), v.maxLength(8)),
    parameters: v.object({
      source_imap: v.optional(ImapHost),
      destination_imap: v.optional(ImapHost),
      notification_email: v.optional(NotificationContact),
      in_qa: v.optional(v.boolean(), false),
    }),
    file_export_parameters: v.optional(
      v.object({ email_format: v.optional(EmailFormat), contacts_format: v.optional(ContactsFormat) }),
    ),
  }),
  v.transform((wire) => ({
    sourceAccount: wire.source_account,
    destinationAccount: wire.destination_account,
    operations: wire.operations,
    parameters: {
      ...(wire.parameters.source_imap === undefined ? {} : { sourceImap: wire.parameters.source_imap }),
      ...(wire.parameters.destination_imap === undefined ? {} : { destinationImap: wire.parameters.destination_imap }),
      ...(wire.parameters.notification_email === undefined
        ? {}
        : { notificationEmail: wire.parameters.notification_email }),
      inQa: wire.parameters.in_qa,
    },
    fileExportParameters: {
      ...(wire.file_export_parameters?.email_format === undefined
        ? {}
        : { emailFormat: wire.file_export_parameters.email_format }),
      ...(wire.file_export_parameters?.contacts_format === undefined
        ? {}
        : { contactsFormat: wire.file_export_parameters.contacts_format }),
    },
  })),
);

export const load = {
  method: 'POST',
  path: '/api/load/',
  Request: LoadRequest,
  Answer: v.object({ jobid: TransferId }),
} as const satisfies Call;
export type LoadRequest = v.InferOutput<typeof LoadRequest>;

/** The request in its wire form, in snake case; absent values are `undefined`, which JSON omits. */
export function writeLoad(request: LoadRequest): v.InferInput<typeof LoadRequest> {
  const { sourceAccount, operations, parameters, fileExportParameters } = request;
  const { tokenId, ...destination } = request.destinationAccount;
  const { emailFormat, contactsFormat } = fileExportParameters;
  const isExport = emailFormat !== undefined || contactsFormat !== undefined;
  return {
    source_account: sourceAccount,
    destination_account: { ...destination, token_id: tokenId },
    operations,
    parameters: {
      source_imap: parameters.sourceImap,
      destination_imap: parameters.destinationImap,
      notification_email: parameters.notificationEmail,
      in_qa: parameters.inQa,
    },
    file_export_parameters: isExport ? { email_format: emailFormat, contacts_format: contactsFormat } : undefined,
  };
}
