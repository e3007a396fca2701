import * as v from 'valibot';
import { Email } from './email.ts';
import { Provider } from './provider.ts';
import { knownProviderOf } from './provider-name.ts';
import { TOKEN_ID_LENGTH } from './token-id.ts';

/** A provider on the wire, its other names normalised; a name that nobody knows is refused. */
export const ProviderName = v.pipe(v.string(), v.maxLength(64), v.transform(knownProviderOf), Provider);

/** At most 1,024 characters: longer than any provider lets a password be. */
export const Password = v.pipe(v.string(), v.maxLength(1024));
/** One that is given once more, for a transfer that was ordered. */
export const GivenPassword = v.pipe(Password, v.minLength(1));

/** `{email, password, provider}`: the mailbox that is read. */
export const SourceAccount = v.object({ email: Email, password: Password, provider: ProviderName });
export type SourceAccount = v.InferOutput<typeof SourceAccount>;

/** What a sign-in at a provider left with the server, as the browser names it. */
export const TokenId = v.pipe(v.string(), v.minLength(1), v.maxLength(TOKEN_ID_LENGTH));

/** `{email, password?, provider, token_id?}`: the mailbox that is written; snake case on the wire only. */
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
