/** The provider no longer accepts the refresh token: the subscriber must sign in again. */
export class ConsentError extends Error {
  override name = 'ConsentError';
}

/** The provider did not answer, or not properly; the same call may work later. */
export class TokenUnavailable extends Error {
  override name = 'TokenUnavailable';
}

export function gone(): ConsentError {
  return new ConsentError('These tokens are gone.');
}
