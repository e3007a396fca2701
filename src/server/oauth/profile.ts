/** What an access token opens. */
export type Resource = 'mail' | 'contacts';

/** How a provider's sign-in differs from the shared flow. */
export type Profile = {
  /** Asked for, beside `openid email`, when mail and contacts are to be moved. */
  readonly scopes: readonly string[];
  /** Those of them without which a transfer can't work; a person can leave them out at some providers. */
  readonly needed: readonly string[];
  /** Where one token opens one resource only: the scopes to name when its token is fetched. */
  readonly scopesOf?: Readonly<Record<Resource, readonly string[]>>;
  /** Asked for at every sign-in, beside `openid email`, for the claims that tell who somebody is. */
  readonly claimScopes?: readonly string[];
  /** Further parameters of the authorization request. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The claims that hold the address, the most trustworthy first. */
  readonly emailClaims: readonly string[];
  /** Whether the claims say that the address is its owner's; without it, they only must not say the contrary. */
  readonly isVerified?: (claims: Readonly<Record<string, unknown>>) => boolean;
  /** Who somebody is, whatever their address; `sub` where it is left out or says nothing. */
  readonly personOf?: (claims: Readonly<Record<string, unknown>>) => string | null;
};

const YES: ReadonlySet<unknown> = new Set([true, 'true', 1, '1']);

/** Whether a claim that is to be a boolean says yes, as providers say it. */
export function isYes(claim: unknown): boolean {
  return YES.has(claim);
}
