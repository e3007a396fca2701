import { randomBytes } from 'node:crypto';
import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import type { Settings } from '../../contract/settings.ts';

const COOKIE = 'browser';
const KEY = /^[0-9a-f]{64}$/;
/** The longest that browsers keep a cookie. What it gives access to ends sooner, when the transfer's data is erased. */
const KEPT_SECONDS = 400 * 24 * 3600;

/** The browser that sent a request, identified by a random key that only its cookie holds. */
export type Browser = {
  /** Absent if it has no key yet. */
  readonly key?: string;
  /** Returns the key; sets the cookie if there is none yet. Must be called before the answer is begun. */
  keep(): string;
  /** Puts another key into the cookie. Must be called before the answer is begun. */
  change(key: string): void;
};

export function newBrowserKey(): string {
  return randomBytes(32).toString('hex');
}

/** The caller's credentials: the cookie, and the bearer token in `Authorization` (RFC 6750). */
export function askerOf(c: Context, settings: Pick<Settings, 'publicUrl'>): { browser: Browser; bearer?: string } {
  const [, bearer] = /^Bearer +([\w.~+/-]{1,512}=*)$/i.exec(c.req.header('authorization') ?? '') ?? [];
  return { browser: browserOf(c, settings), ...(bearer === undefined ? {} : { bearer }) };
}

/** The browser that sent a request, by its cookie. Over HTTPS the cookie is bound to the host (`__Host-`). */
export function browserOf(c: Context, settings: Pick<Settings, 'publicUrl'>): Browser {
  const secure = settings.publicUrl.startsWith('https://');
  const sent = secure ? getCookie(c, COOKIE, 'host') : getCookie(c, COOKIE);
  let key = sent !== undefined && KEY.test(sent) ? sent : undefined;
  let given: string | undefined;
  const give = (next: string) => {
    key = next;
    if (given === next) return;
    given = next;
    // An answer must not set the same cookie twice (RFC 6265 §4.1.1).
    c.header('set-cookie');
    setCookie(c, COOKIE, next, {
      httpOnly: true,
      // The redirect back from a provider is a cross-site navigation.
      sameSite: 'Lax',
      path: '/',
      maxAge: KEPT_SECONDS,
      ...(secure ? { secure, prefix: 'host' } : {}),
    });
  };
  return {
    ...(key === undefined ? {} : { key }),
    keep: () => {
      const kept = key ?? newBrowserKey();
      give(kept);
      return kept;
    },
    change: give,
  };
}
