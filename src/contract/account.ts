import * as v from 'valibot';
import { Email } from './email.ts';
import { Provider } from './provider.ts';
import { knownProviderOf } from './provider-name.ts';
import { TOKEN_ID_LENGTH } from './token-id.ts';

/** A provider on the wire. Aliases are normalized, unknown names are refused. */
export const ProviderName = v.pipe(v.string(), v.maxLength(64), v.transform(knownProviderOf), Provider);

/** At most 1,024 characters, which is more than any provider allows. */
export const Password = v.pipe(v.string(), v.maxLength(1024));
/** A password that is supplied again for an existing transfer. */
export const GivenPassword = v.pipe(Password, v.minLength(1));

/** `{email, password, provider}`: the mailbox to read from. */
export const SourceAccount = v.object({ email: Email, password: Password, provider: ProviderName });
export type SourceAccount = v.InferOutput<typeof SourceAccount>;

/** The browser's handle for the provider tokens that the server holds after an OAuth sign-in. */
export const TokenId = v.pipe(v.string(), v.minLength(1), v.maxLength(TOKEN_ID_LENGTH));

/** `{email, password?, provider, token_id?}`: the mailbox to write to; snake case on the wire only. */
export const DestinationAccount = v.pipe(
  v.object({
    email: Email,
    password: v.optional(Password),
    provider: ProviderName,
    token_id: v.optional(TokenId),
  }),
  v.transform(({ email, password, provider, token_id }) => ({
    email,
    provider,
    ...(password === undefined || password === '' ? {} : { password }),
    ...(token_id === undefined ? {} : { tokenId: token_id }),
  })),
);
export type DestinationAccount = v.InferOutput<typeof DestinationAccount>;
