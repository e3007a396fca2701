/** The portal pages that the server sends browsers to. */
export const PAGE = {
  status: '/status',
  oauthReturn: '/oauth-callback',
  oauthReturnForStatus: '/oauth-callback-for-status',
} as const;

/** Reads a query parameter; `''` if it is absent. */
export type Ask = (name: string) => string;

const TRANSFER = 'migration_id';

/** The address of a transfer's status page, for links in letters and in the portal. */
export function statusAddress(transferId: string): string {
  return `${PAGE.status}?${new URLSearchParams(statusQuery(transferId)).toString()}`;
}

export function statusQuery(transferId: string): Record<string, string> {
  return { [TRANSFER]: transferId };
}

export function readTransferId(ask: Ask): string {
  return ask(TRANSFER);
}

const ERROR = 'error';

export function errorQuery(error: string): Record<string, string> {
  return { [ERROR]: error };
}

export function readError(ask: Ask): string {
  return ask(ERROR);
}

/** The result of an OAuth sign-in at a provider; absent values are `''`. */
export type OauthReturn = {
  readonly error: string;
  readonly tokenId: string;
  readonly email: string;
  readonly provider: string;
  /** Gives access to the list of the address's transfers (`jobsByEmail`). */
  readonly hash: string;
  /** `no` if the person did not grant access to contacts. */
  readonly contacts: string;
};

/** The address of the page to return to after a sign-in at a provider. */
export function oauthReturnAddress(purpose: 'transfer' | 'status', said: Partial<OauthReturn>): string {
  const query = new URLSearchParams();
  for (const [key, name] of RETURN_NAMES) {
    const value = said[key] ?? '';
    if (value !== '') query.set(name, value);
  }
  return `${purpose === 'transfer' ? PAGE.oauthReturn : PAGE.oauthReturnForStatus}?${query.toString()}`;
}

export function readOauthReturn(ask: Ask): OauthReturn {
  return Object.fromEntries(RETURN_NAMES.map(([key, name]) => [key, ask(name)])) as OauthReturn;
}

const RETURN_NAMES = [
  ['error', ERROR],
  ['tokenId', 'token_id'],
  ['email', 'email'],
  ['hash', 'hash'],
  ['provider', 'provider'],
  ['contacts', 'contacts'],
] as const satisfies readonly (readonly [keyof OauthReturn, string])[];
