import type { Settings } from '../../contract/settings.ts';
import { fetch } from '../fetch.ts';
import { Unanswered } from './letters.ts';

const SEND_WITHIN_MS = 30_000;
/** Something between, or the gateway itself, does not know what became of it; every other answer tells. */
const UNKNOWN: ReadonlySet<number> = new Set([500, 504]);
const PROXY_REFUSES = /^Proxy Authentication Required/;

/**
 * Hands an SMS to the operator's gateway.
 * @param key the same for each attempt, so that the gateway can recognise a duplicate; not every one does
 * @throws {Unanswered} if it got all of it, and may have sent it; another error if it did not accept it
 */
export async function sendSms(
  { url, token }: NonNullable<Settings['sms']>,
  to: string,
  text: string,
  key: string,
): Promise<void> {
  const octets = Buffer.from(JSON.stringify({ to, text }));
  let isHandedOver = false;
  // Read only once the connection stands, which no error tells of by itself.
  const body = new ReadableStream(
    {
      pull: (out) => {
        isHandedOver = true;
        out.enqueue(octets);
        out.close();
      },
    },
    { highWaterMark: 0 },
  );
  let answer: Response;
  try {
    answer = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'content-length': String(octets.length),
        'idempotency-key': key,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body,
      duplex: 'half',
      redirect: 'manual',
      signal: AbortSignal.timeout(SEND_WITHIN_MS),
    });
    await answer.body?.cancel();
  } catch (cause) {
    if (!isHandedOver || isProxyRefusal(cause)) throw cause;
    throw new Unanswered('The SMS gateway got an SMS, and did not say whether it took it.', { cause });
  }
  if (UNKNOWN.has(answer.status)) throw new Unanswered(`The SMS gateway answered ${answer.status}.`);
  if (!answer.ok) throw new Error(`The SMS gateway answered ${answer.status}.`);
}

/** undici makes an error of a proxy's 407, who has passed nothing on. */
function isProxyRefusal(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof Error && PROXY_REFUSES.test(error.cause.message);
}
