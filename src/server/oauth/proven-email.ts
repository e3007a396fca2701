import * as client from 'openid-client';
import * as v from 'valibot';
import { Email } from '../../contract/email.ts';
import { isEmail } from '../../contract/email-address.ts';
import { isYes, type Profile } from './profile.ts';

/** What a token endpoint answers. */
export type TokenAnswer = client.TokenEndpointResponse & client.TokenEndpointResponseHelpers;

/** The address from the ID token, else from userinfo; `null` when there is none or the provider has not verified it. */
export async function provenEmail(
  configuration: client.Configuration,
  answer: TokenAnswer,
  profile: Profile,
): Promise<string | null> {
  const claims = answer.claims();
  if (claims === undefined) return null;
  const inToken = emailIn(claims, profile);
  if (inToken !== undefined) return inToken;
  return emailIn(await client.fetchUserInfo(configuration, answer.access_token, claims.sub), profile) ?? null;
}

/** The address in claims; `null` when the provider has not verified it, `undefined` when there is none. */
export function emailIn(
  claims: Readonly<Record<string, unknown>>,
  { emailClaims, isVerified }: Profile,
): string | null | undefined {
  const email = emailClaims
    .map((name) => claims[name])
    .find((value): value is string => typeof value === 'string' && isEmail(value));
  if (email === undefined) return undefined;
  const { email_verified: verified } = claims;
  // Some providers don't use a boolean.
  const refused = (verified !== undefined && !isYes(verified)) || isVerified?.(claims) === false;
  return refused ? null : v.parse(Email, email);
}
