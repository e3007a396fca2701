/** The codes of `portal.md` §8 and `decisions.md`, "Calls": every error that a call or an OAuth round trip can answer. */
export const FAILURE_CODES = [
  'INVALID_EMAIL',
  'INVALID_CREDENTIALS',
  'INVALID_IMAP',
  'INVALID_TOKEN',
  'PROVIDER_NOT_SUPPORTED',
  'UNSUPPORTED_PROVIDER',
  'OPERATION_NOT_ALLOWED',
  'MIGRATION_IN_PROGRESS',
  'MIGRATION_ID_NOT_FOUND',
  'TOO_MANY_ATTEMPTS',
  'ACCOUNT_ALREADY_CREATED',
  'ACCOUNT_ALREADY_EXISTS_MIGRATION_IN_PROGRESS',
  'ACCOUNT_ALREADY_EXISTS_MIGRATION_COMPLETED',
  'EXTERNAL_OAUTH_ERROR',
  'MISSING_SCOPE',
  'GENERAL_ERROR',
] as const;
export type FailureCode = (typeof FAILURE_CODES)[number];

/**
 * How a call can fail, as the portal sees it. In addition to the server's own codes: `UNAVAILABLE`, the server answered
 * 503 or could not be reached; `UNEXPECTED_ANSWER`, the answer matches no schema.
 */
export type CallFailureCode = FailureCode | 'UNAVAILABLE' | 'UNEXPECTED_ANSWER';

/** The HTTP status that means `UNAVAILABLE`: the portal is closed, or its database can't be reached. */
export const UNAVAILABLE_STATUS = 503 as const;

/**
 * The values of the query parameter `error` that the portal distinguishes (`decisions.md`), ignoring case. In addition,
 * `ADDRESS_NOT_VERIFIED`: the provider lets its customers enter any address, and has not verified this one.
 */
export const QUERY_ERRORS = [
  'INVALID_EMAIL',
  'EXTERNAL_OAUTH_ERROR',
  'UNSUPPORTED_PROVIDER',
  'PROVIDER_NOT_SUPPORTED',
  'MISSING_SCOPE',
  'ADDRESS_NOT_VERIFIED',
] as const;
export type QueryError = (typeof QUERY_ERRORS)[number] | 'OTHER';

export function queryErrorOf(text: string): QueryError {
  const code = text.toUpperCase();
  return QUERY_ERRORS.find((known) => known === code) ?? 'OTHER';
}
