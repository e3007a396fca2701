import { setTimeout as delay } from 'node:timers/promises';
import { ContactStoreError, type ContactCredentials } from './contact-store.ts';

/** One request and its answer, whole, in milliseconds. */
const REQUEST_TIMEOUT = 60_000;
/** The largest answer that is read, in octets. */
export const ANSWER_OCTETS = 64 * 1024 * 1024;
const REDIRECTS_AT_MOST = 5;
/** How often a request is made before the store counts as unavailable. */
export const TRIES = 6;
/** The first pause without a `Retry-After`, doubled each time, and the longest pause, in milliseconds. */
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 300_000;

/** Waits; tests pass one that only writes down how long. */
export type Sleep = (milliseconds: number, signal: AbortSignal) => Promise<void>;
const sleepForReal: Sleep = async (milliseconds, signal) => {
  await delay(milliseconds, undefined, { signal });
};

export type WebRequest = {
  readonly method: string;
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Whether it may be repeated when nobody knows if the first one was carried out. */
  readonly repeatable: boolean;
  /** The largest answer to read, in octets; `ANSWER_OCTETS` by default. */
  readonly limit?: number;
};
export type WebAnswer = { readonly status: number; readonly headers: Headers; readonly body: Buffer };

/** An answer is longer than its limit; the rest of it was not read. */
export class AnswerTooLarge extends ContactStoreError {
  override name = 'AnswerTooLarge';
}

/** HTTP to one origin: nothing is ever sent elsewhere, whatever a redirect or an answer says. */
export class Web {
  readonly base: URL;
  readonly #credentials: ContactCredentials;
  readonly #sleep: Sleep;
  readonly #timeout: number;

  /**
   * @param base a setting of the operator, so its host may be private
   * @param plainHosts those that may be spoken to without TLS, as `TRUSTED_MAIL_HOSTS`
   */
  constructor(
    base: URL,
    credentials: ContactCredentials,
    options: { plainHosts?: readonly string[]; sleep?: Sleep; timeout?: number } = {},
  ) {
    const named = [base.hostname, base.host].some((host) => options.plainHosts?.includes(host));
    if (base.protocol !== 'https:' && !named && !isLoopback(base.hostname))
      throw new ContactStoreError('unexpected', `${base.host} has no TLS and is not in TRUSTED_MAIL_HOSTS`);
    this.base = base;
    this.#credentials = credentials;
    this.#sleep = options.sleep ?? sleepForReal;
    this.#timeout = options.timeout ?? REQUEST_TIMEOUT;
  }

  /** An address of an answer, as long as it is of our origin. */
  resolve(href: string, from: URL = this.base): URL {
    const url = URL.parse(href, from);
    if (url === null || url.origin !== this.base.origin || url.username !== '' || url.password !== '')
      throw new ContactStoreError('unexpected', `${this.base.host} points to another host`);
    return url;
  }

  /**
   * Follows redirects within the origin and waits out 429 and 503, as well as other 5xx and broken connections when the
   * request may be repeated. Other statuses are the caller's.
   * @throws {ContactStoreError} `unavailable`, `authentication` (401), `unexpected`; the signal's reason when aborted
   */
  async ask(request: WebRequest, signal: AbortSignal): Promise<WebAnswer> {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#try(request, signal);
      if (!(answer instanceof ContactStoreError)) {
        if (answer.status === 401)
          throw new ContactStoreError('authentication', `${this.base.host} refuses the credentials`, { status: 401 });
        const busy = answer.status === 429 || answer.status === 503;
        if (!busy && !(answer.status >= 500 && answer.status !== 501 && answer.status !== 507)) return answer;
        if (!busy && !request.repeatable) throw this.#unavailable(answer.status);
        if (attempt >= TRIES) throw this.#unavailable(answer.status);
        await this.pause(answer.headers.get('retry-after'), attempt, signal);
        continue;
      }
      if (!request.repeatable || answer.fault !== 'unavailable' || attempt >= TRIES) throw answer;
      await this.pause(null, attempt, signal);
    }
  }

  /** Waits as long as `Retry-After` (RFC 9110 §10.2.3) says, else longer with each attempt; `LONGEST_PAUSE` at most. */
  async pause(retryAfter: string | null, attempt: number, signal: AbortSignal): Promise<void> {
    const asked = retryAfter === null ? Number.NaN : retryAfterOf(retryAfter);
    const wait = Number.isNaN(asked) ? FIRST_PAUSE * 2 ** (attempt - 1) : asked;
    try {
      await this.#sleep(Math.min(Math.max(wait, 0), LONGEST_PAUSE), signal);
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  }

  async #try(request: WebRequest, signal: AbortSignal): Promise<WebAnswer | ContactStoreError> {
    let { url } = request;
    for (let redirects = 0; redirects <= REDIRECTS_AT_MOST; redirects += 1) {
      const answer = await this.#send({ ...request, url }, signal);
      if (answer instanceof ContactStoreError) return answer;
      const location = answer.headers.get('location');
      if (![301, 302, 307, 308].includes(answer.status) || location === null) return answer;
      url = this.resolve(location, url);
    }
    throw new ContactStoreError('unexpected', `${this.base.host} redirects more than ${REDIRECTS_AT_MOST} times`);
  }

  async #send(request: WebRequest, signal: AbortSignal): Promise<WebAnswer | ContactStoreError> {
    const authorization = await this.#authorization();
    try {
      const response = await fetch(request.url, {
        method: request.method,
        headers: { ...request.headers, authorization },
        ...(request.body === undefined ? {} : { body: bodyOf(request.body) }),
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(this.#timeout)]),
      });
      return { status: response.status, headers: response.headers, body: await this.#read(response, request.limit) };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ContactStoreError) return error;
      return new ContactStoreError('unavailable', `${this.base.host} did not answer`, { cause: error });
    }
  }

  async #read(response: Response, limit: number = ANSWER_OCTETS): Promise<Buffer> {
    const chunks: Uint8Array[] = [];
    let octets = 0;
    for await (const chunk of response.body ?? []) {
      octets += chunk.length;
      if (octets > limit) throw new AnswerTooLarge('unexpected', `${this.base.host} answers more than ${limit} octets`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }

  async #authorization(): Promise<string> {
    const credentials = this.#credentials;
    if ('accessToken' in credentials) return `Bearer ${await credentials.accessToken()}`;
    return `Basic ${Buffer.from(`${credentials.email}:${credentials.password}`).toString('base64')}`;
  }

  #unavailable(status: number): ContactStoreError {
    return new ContactStoreError('unavailable', `${this.base.host} answers ${status}`, { status });
  }
}

function bodyOf(body: string | Uint8Array): string | Uint8Array<ArrayBuffer> {
  return typeof body === 'string' ? body : Uint8Array.from(body);
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

function retryAfterOf(text: string): number {
  return /^\d+$/.test(text.trim()) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
}
