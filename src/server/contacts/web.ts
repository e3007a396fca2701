import { setTimeout as delay } from 'node:timers/promises';
import { fetch } from '../fetch.ts';
import { AnswerTooLong, octetsOf } from '../network/octets-of.ts';
import { ContactStoreError, type ContactCredentials, type ContactStoreFault } from './contact-store.ts';

/** For one request and its complete answer, in milliseconds. */
const REQUEST_TIMEOUT = 60_000;
/** The largest answer that is read, in octets. */
export const ANSWER_OCTETS = 64 * 1024 * 1024;
const REDIRECTS_AT_MOST = 5;
/** Attempts at a request before the store counts as unavailable. */
export const TRIES = 6;
/** The first pause without a `Retry-After`, doubled each time, in milliseconds. */
const FIRST_PAUSE = 1_000;
/** Longer pauses are left to the caller, which can do other work in the meantime. */
const LONGEST_PAUSE = 120_000;
/** A `Retry-After` of more than a day is cut to a day. */
const DAY = 86_400_000;

/** A page begins with a tag, after some blanks at most, in octets. */
const PAGE_BEGINS_WITHIN = 1024;
/** Too slow a request, a lock, too early a request: the same one may succeed later. */
const PASSING: ReadonlySet<number> = new Set([408, 423, 425]);

/** Waits; tests pass one that only records how long. */
export type Sleep = (milliseconds: number, signal: AbortSignal) => Promise<void>;
const sleepForReal: Sleep = async (milliseconds, signal) => {
  await delay(milliseconds, undefined, { signal });
};

export type WebRequest = {
  readonly method: string;
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Whether it may be repeated when the outcome of the first attempt is unknown. */
  readonly repeatable: boolean;
  /** The largest answer to read, in octets; `ANSWER_OCTETS` by default. */
  readonly limit?: number;
  /** How many times as long as others it may take. */
  readonly slowness?: number;
};
/** What went wrong with a request. Contains no personal data. */
export type WebFailure = {
  readonly host: string;
  readonly method: string;
  readonly status?: number;
  readonly reason?: string;
  /** Milliseconds until it is tried again. */
  readonly pause?: number;
};
export type WebAnswer = { readonly status: number; readonly headers: Headers; readonly body: Buffer };

/** The answer exceeded its limit; the rest was not read. */
export class AnswerTooLarge extends ContactStoreError {
  override name = 'AnswerTooLarge';
}

/** A page for people came in the answer's place, such as that of something between us and the store. */
export class AnotherPage extends ContactStoreError {
  override name = 'AnotherPage';
}

/** How a store's answer gives its reason for refusing. */
export type Refusals = {
  /** The store's own word, such as `rateLimitExceeded`; `undefined` when it gives none. */
  readonly reasonOf: (answer: WebAnswer) => string | undefined;
  /** `busy`: the same request may succeed later; `full`: only after the owner has made room. */
  readonly kindOf: (answer: WebAnswer, reason: string | undefined) => 'busy' | 'full' | null;
};

const PLAIN_REFUSALS: Refusals = {
  reasonOf: () => undefined,
  kindOf: ({ status }) => (status === 507 ? 'full' : null),
};

/** HTTP to a single origin: nothing is ever sent anywhere else, whatever a redirect or an answer says. */
export class Web {
  readonly base: URL;
  readonly #credentials: ContactCredentials;
  readonly #sleep: Sleep;
  readonly #timeout: number;
  readonly #refusals: Refusals;
  readonly #onFailure: (failure: WebFailure) => void;

  /**
   * @param base an operator's setting, so its host may be private, and without TLS where the settings accept that
   */
  constructor(
    base: URL,
    credentials: ContactCredentials,
    options: {
      sleep?: Sleep;
      timeout?: number;
      refusals?: Refusals;
      onFailure?: (failure: WebFailure) => void;
    } = {},
  ) {
    this.base = base;
    this.#credentials = credentials;
    this.#sleep = options.sleep ?? sleepForReal;
    this.#timeout = options.timeout ?? REQUEST_TIMEOUT;
    this.#refusals = options.refusals ?? PLAIN_REFUSALS;
    this.#onFailure = options.onFailure ?? (() => {});
  }

  /** An address found in an answer, if it has our origin. */
  resolve(href: string, from: URL = this.base): URL {
    const url = URL.parse(href, from);
    // Behind a proxy that adds TLS, many servers believe that they have none.
    if (url?.protocol === 'http:' && url.hostname === this.base.hostname && ['', this.base.port].includes(url.port)) {
      url.protocol = this.base.protocol;
      url.port = this.base.port;
    }
    if (url === null || url.origin !== this.base.origin || url.username !== '' || url.password !== '')
      throw new ContactStoreError('unexpected', `${this.base.host} points to another host`);
    return url;
  }

  /**
   * Follows redirects within the origin and waits out 429, and 503 with a `Retry-After`, as well as other 5xx, 408, 423,
   * 425 and broken connections when the request may be repeated. A refused access token is renewed once. Other statuses are the
   * caller's.
   * @throws {ContactStoreError} `unavailable`, `full`, `authentication` (401), `unexpected` (as {@link AnotherPage});
   *   the signal's reason when aborted
   */
  async ask(request: WebRequest, signal: AbortSignal): Promise<WebAnswer> {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#try(request, signal);
      if (answer instanceof ContactStoreError) {
        this.#tell(request, answer.status === undefined ? {} : { status: answer.status });
        if (!request.repeatable || answer.fault !== 'unavailable' || attempt >= TRIES) throw answer;
        await this.pause(null, attempt, signal);
        continue;
      }
      const { status } = answer;
      if (isPage(answer)) throw this.#anotherPage();
      if (status < 400) return answer;
      const reason = this.#refusals.reasonOf(answer);
      const said = { status, ...(reason === undefined ? {} : { reason }) };
      const kind = this.#refusals.kindOf(answer, reason);
      const retryAfter = answer.headers.get('retry-after');
      const busy = isBusy(answer, kind);
      const passes = PASSING.has(status) || (status >= 500 && status !== 501 && status !== 507);
      const last = !busy && !passes;
      const pause = last ? undefined : pauseOf(retryAfter, attempt);
      this.#tell(request, { ...said, ...(pause === undefined ? {} : { pause }) });
      if (status === 401) throw this.#error('authentication', said);
      if (kind === 'full') throw this.#error('full', said);
      if (pause === undefined) return answer;
      if ((!busy && !request.repeatable) || attempt >= TRIES || pause > LONGEST_PAUSE)
        // A lock is on one resource, and the others need not wait for it.
        throw this.#error('unavailable', retryAfter === null || (status === 423 && !busy) ? said : { ...said, pause });
      await this.#wait(pause, signal);
    }
  }

  /**
   * Whether a store defers this part of a combined answer, as it would defer an answer of its own.
   * @throws {ContactStoreError} `full`, `authentication`, as for an answer of its own
   */
  isPutOff(answer: WebAnswer): boolean {
    const { status } = answer;
    const reason = this.#refusals.reasonOf(answer);
    const said = { status, ...(reason === undefined ? {} : { reason }) };
    const kind = this.#refusals.kindOf(answer, reason);
    if (kind === 'full') throw this.#error('full', said);
    if (status === 401 || (status === 403 && kind === null)) throw this.#error('authentication', said);
    return isBusy(answer, kind);
  }

  /** The store's reason for refusing, for errors and the log. */
  reasonOf(answer: WebAnswer): string | undefined {
    return this.#refusals.reasonOf(answer);
  }

  /**
   * Waits as long as `Retry-After` (RFC 9110 §10.2.3) says, or else longer with each attempt.
   * @throws {ContactStoreError} `unavailable`, if that is longer than `LONGEST_PAUSE`
   */
  async pause(retryAfter: string | null, attempt: number, signal: AbortSignal): Promise<void> {
    const pause = pauseOf(retryAfter, attempt);
    const { host } = this.base;
    if (pause > LONGEST_PAUSE)
      throw new ContactStoreError('unavailable', `${host} asks for a long pause`, { host, pause });
    await this.#wait(pause, signal);
  }

  async #wait(milliseconds: number, signal: AbortSignal): Promise<void> {
    try {
      await this.#sleep(milliseconds, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  }

  #tell(request: WebRequest, failure: Omit<WebFailure, 'host' | 'method'>): void {
    this.#onFailure({ host: this.base.host, method: request.method, ...failure });
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
    const answer = await this.#sendAs(await this.#authorization(false), request, signal);
    const isRefused = !(answer instanceof ContactStoreError) && answer.status === 401;
    return isRefused && 'accessToken' in this.#credentials
      ? this.#sendAs(await this.#authorization(true), request, signal)
      : answer;
  }

  async #sendAs(
    authorization: string,
    request: WebRequest,
    signal: AbortSignal,
  ): Promise<WebAnswer | ContactStoreError> {
    try {
      const response = await fetch(request.url, {
        method: request.method,
        headers: { ...request.headers, authorization },
        ...(request.body === undefined ? {} : { body: bodyOf(request.body) }),
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(this.#timeout * (request.slowness ?? 1))]),
      });
      return { status: response.status, headers: response.headers, body: await this.#read(response, request.limit) };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ContactStoreError) return error;
      const host = this.base.host;
      return new ContactStoreError('unavailable', `${host} did not answer`, { host, cause: error });
    }
  }

  async #read(response: Response, limit: number = ANSWER_OCTETS): Promise<Buffer> {
    try {
      return await octetsOf(response, limit);
    } catch (cause) {
      if (!(cause instanceof AnswerTooLong)) throw cause;
      const { host } = this.base;
      throw new AnswerTooLarge('unexpected', `${host} answers more than ${limit} octets`, { host, cause });
    }
  }

  async #authorization(renew: boolean): Promise<string> {
    const credentials = this.#credentials;
    if ('accessToken' in credentials) return `Bearer ${await credentials.accessToken({ renew })}`;
    return `Basic ${Buffer.from(`${credentials.email}:${credentials.password}`).toString('base64')}`;
  }

  #anotherPage(): AnotherPage {
    const { host } = this.base;
    return new AnotherPage('unexpected', `${host} answers by a page for people`, { host, status: 200 });
  }

  #error(fault: ContactStoreFault, said: { status: number; reason?: string; pause?: number }): ContactStoreError {
    const { host } = this.base;
    const words = said.reason === undefined ? `${said.status}` : `${said.status} ${said.reason}`;
    return new ContactStoreError(fault, `${host} answers ${words}`, { host, ...said });
  }
}

/** Of HTML, and with the status of success; a card that is only called HTML is none. */
function isPage({ status, headers, body }: WebAnswer): boolean {
  const isHtml = /^(?:text\/html|application\/xhtml\+xml)\b/i.test(headers.get('content-type') ?? '');
  return status === 200 && isHtml && /^\s*</.test(body.subarray(0, PAGE_BEGINS_WITHIN).toString('utf8'));
}

/**
 * Whether the store has not done what it was asked for. A 503 that asks for no pause may be from something between,
 * which has lost the store's answer.
 */
function isBusy({ status, headers }: WebAnswer, kind: ReturnType<Refusals['kindOf']>): boolean {
  return kind === 'busy' || status === 429 || (status === 503 && headers.has('retry-after'));
}

function pauseOf(retryAfter: string | null, attempt: number): number {
  const asked = retryAfter === null ? Number.NaN : retryAfterOf(retryAfter);
  const pause = Number.isNaN(asked) ? FIRST_PAUSE * 2 ** (attempt - 1) : asked;
  return Math.min(Math.max(pause, 0), DAY);
}

function bodyOf(body: string | Uint8Array): string | Uint8Array<ArrayBuffer> {
  return typeof body === 'string' ? body : Uint8Array.from(body);
}

function retryAfterOf(text: string): number {
  if (/^\d+$/.test(text.trim())) return Number(text) * 1_000;
  // `Date.parse` would take `1.5` and `3, 5` for days in the past.
  return text.trim().endsWith('GMT') ? Date.parse(text) - Date.now() : Number.NaN;
}
