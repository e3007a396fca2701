import { ImapRefusal } from './refusal.ts';

/** Checks credentials. A missing function means that this way of signing in is not offered. */
export type Doorkeeper = {
  readonly password?: (email: string, password: string) => boolean | Promise<boolean>;
  readonly token?: (email: string, token: string) => boolean | Promise<boolean>;
};

export function mechanisms({ password, token }: Doorkeeper): readonly string[] {
  return [...(password === undefined ? [] : ['PLAIN']), ...(token === undefined ? [] : ['OAUTHBEARER', 'XOAUTH2'])];
}

const REFUSED = '[AUTHENTICATIONFAILED] The address or the password is wrong';

/** Sent when a token is refused; the client answers it with an empty response (RFC 7628 §3.2.3). */
const CHALLENGE = Buffer.from(JSON.stringify({ status: '401', schemes: 'bearer', scope: 'mail' })).toString('base64');

/** @returns the address that is signed in, in lower case. */
export async function login(door: Doorkeeper, email: string, password: string): Promise<string> {
  if (door.password === undefined) throw new ImapRefusal('NO', '[AUTHENTICATIONFAILED] Passwords are not taken here');
  const address = email.trim().toLowerCase();
  if (!(await door.password(address, password))) throw new ImapRefusal('NO', REFUSED);
  return address;
}

/**
 * AUTHENTICATE PLAIN (RFC 4616), OAUTHBEARER (RFC 7628) and XOAUTH2.
 * `ask` sends a challenge and returns the client's line, which is base64, or `*` to cancel.
 */
export async function authenticate(
  door: Doorkeeper,
  mechanism: string,
  initial: string | undefined,
  ask: (challenge: string) => Promise<string>,
): Promise<string> {
  if (!mechanisms(door).includes(mechanism)) throw new ImapRefusal('NO', 'This mechanism is not known here');
  const line = initial ?? (await ask(''));
  if (line === '*') throw new ImapRefusal('BAD', 'Given up');
  const response = line === '=' ? '' : Buffer.from(line, 'base64').toString();
  if (mechanism === 'PLAIN') {
    const [, email, password] = response.split('\0');
    if (email === undefined || password === undefined) throw new ImapRefusal('BAD', 'The response makes no sense');
    return login(door, email, password);
  }
  const fields = response.split('\u0001');
  const email = (mechanism === 'XOAUTH2' ? /^user=(.+)/ : /^n,a=([^,]+),/).exec(fields[0] ?? '')?.[1];
  const token = fields.map((field) => /^auth=Bearer (.+)/i.exec(field)?.[1]).find((found) => found !== undefined);
  if (email === undefined || token === undefined) throw new ImapRefusal('BAD', 'The response makes no sense');
  const address = email.trim().toLowerCase();
  if (await door.token?.(address, token)) return address;
  await ask(CHALLENGE);
  throw new ImapRefusal('NO', '[AUTHENTICATIONFAILED] The token is not good for this address');
}
