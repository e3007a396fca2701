/** OAuth sign-ins are browser navigations rather than calls; these are their paths (`decisions.md`). */
export const OAUTH_START = '/api/oauth/';
export const OAUTH_START_FOR_STATUS = '/api/oauth-for-status/';
export const OAUTH_RETURN = '/api/oauth/callback/';

export function oauthAddress(purpose: 'transfer' | 'status', provider: string): string {
  const path = purpose === 'transfer' ? OAUTH_START : OAUTH_START_FOR_STATUS;
  return `${path}?${new URLSearchParams({ provider }).toString()}`;
}
