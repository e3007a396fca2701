import * as v from 'valibot';
import { ContactsFormat, EmailFormat } from '../contract/export-format.ts';
import { OauthProvider, Provider } from '../contract/provider.ts';
import { TransferId } from '../contract/transfer.ts';

/** A stored session, by the keys of `portal.md` §3, and what a sign-in on the status page was begun for. Fetched only by a visitor who has one. */
const Stored = v.object({
  srcAccount: v.nullable(v.object({ email: v.string(), password: v.string(), provider: v.literal('sanbruno') })),
  dstAccount: v.nullable(
    v.object({
      email: v.string(),
      provider: Provider,
      password: v.exactOptional(v.string()),
      imap: v.exactOptional(v.string()),
      tokenId: v.exactOptional(v.string()),
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
});
export type Stored = v.InferOutput<typeof Stored>;

/** @throws {v.ValiError} */
export function parseStored(found: unknown): Stored {
  return v.parse(Stored, found);
}
