import * as v from 'valibot';
import { ContactsFormat, EmailFormat } from '../contract/export-format.ts';
import { OauthProvider, Provider } from '../contract/provider.ts';
import { TransferId } from '../contract/transfer.ts';

/**
 * The schema of a stored session: the keys of `portal.md` §3, the purpose of a sign-in that was begun on the status page,
 * and a message to support that was begun or sent. This script is fetched only by visitors who have one.
 */
const Stored = v.object({
  srcAccount: v.nullable(v.object({ email: v.string(), password: v.string(), provider: v.literal('sanbruno') })),
  dstAccount: v.nullable(
    v.object({
      email: v.string(),
      provider: Provider,
      password: v.exactOptional(v.string()),
      imap: v.exactOptional(v.string()),
      tokenId: v.exactOptional(v.string()),
      transferId: v.exactOptional(TransferId),
    }),
  ),
  allowContactsMigration: v.boolean(),
  googleTermsAccepted: v.boolean(),
  checkSanBrunoOnOauthCallback: v.boolean(),
  operations: v.nullable(v.array(v.string())),
  jwt: v.nullable(v.string()),
  notificationContact: v.string(),
  emailHash: v.nullable(v.string()),
  emailExportType: v.nullable(EmailFormat),
  contactsExportType: v.nullable(ContactsFormat),
  awaitedConsent: v.nullable(
    v.object({
      transferId: TransferId,
      purpose: v.picklist(['mend', 'take back', 'again', 'daily']),
      provider: OauthProvider,
    }),
  ),
  draft: v.nullable(
    v.object({
      legacyEmail: v.string(),
      contactEmail: v.string(),
      supportId: v.string(),
      issue: v.string(),
      transferId: v.nullable(TransferId),
    }),
  ),
  letter: v.nullable(
    v.object({
      emailAddress: v.string(),
      destinationEmail: v.exactOptional(v.string()),
      migrationId: v.exactOptional(TransferId),
      issue: v.string(),
    }),
  ),
});
export type Stored = v.InferOutput<typeof Stored>;

/** @throws {v.ValiError} */
export function parseStored(found: unknown): Stored {
  return v.parse(Stored, found);
}
