/** What an access token opens. */
export type Resource = 'mail' | 'contacts';

/** How a provider's sign-in differs from the shared flow. */
export type Profile = {
  /** Scopes requested in addition to `openid email` for moving mail and contacts. */
  readonly scopes: readonly string[];
  /** The scopes that a transfer can't do without; some providers let the person deselect them. */
  readonly needed: readonly string[];
  /** If each token is valid for one resource only: the scopes to request its token with. */
  readonly scopesOf?: Readonly<Record<Resource, readonly string[]>>;
  /** Scopes requested at every sign-in, in addition to `openid email`, for claims that identify the person. */
  readonly claimScopes?: readonly string[];
  /** Further parameters of the authorization request. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The claims that hold the address, the most trustworthy first. */
  readonly emailClaims: readonly string[];
  /** Whether the claims confirm the address as the person's. By default they need only not deny it. */
  readonly isVerified?: (claims: Readonly<Record<string, unknown>>) => boolean;
  /** Identifies the person regardless of address; `sub` by default, or if it returns nothing. */
  readonly personOf?: (claims: Readonly<Record<string, unknown>>) => string | null;
};

const YES: ReadonlySet<unknown> = new Set([true, 'true', 1, '1']);

/** Whether a boolean claim is true, in any of the forms that providers use. */
export function isYes(claim: unknown): boolean {
  return YES.has(claim);
}
