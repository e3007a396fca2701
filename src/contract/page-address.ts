/** The pages of the portal that the server leads a browser to, with the names of what it says in their addresses. */
export const PAGE = {
  status: '/status',
  oauthReturn: '/oauth-callback',
  oauthReturnForStatus: '/oauth-callback-for-status',
} as const;

/** Reads a parameter of an address; `''` for one that isn't there. */
export type Ask = (name: string) => string;

const TRANSFER = 'migration_id';

/** The status page of a transfer: a letter's link, and the portal's own. */
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

/** What a sign-in at a provider came back with; `''` for what was not said. */
export type OauthReturn = {
  readonly error: string;
  readonly tokenId: string;
  readonly email: string;
  readonly provider: string;
  /** Lists the transfers of the address. */
  readonly hash: string;
  /** `no` when the person has left out the permission for contacts. */
  readonly contacts: string;
};

/** The address that ends a sign-in at a provider. */
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
