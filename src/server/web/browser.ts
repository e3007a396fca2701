import { randomBytes } from 'node:crypto';
import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import type { Settings } from '../../contract/settings.ts';

const COOKIE = 'browser';
const KEY = /^[0-9a-f]{64}$/;
/** The longest that browsers keep a cookie; what it opens ends sooner, when the transfer's data are erased. */
const KEPT_SECONDS = 400 * 24 * 3600;

/** The browser that asks, by a random key that only its cookie holds. */
export type Browser = {
  /** Absent for one that has no key yet. */
  readonly key?: string;
  /** The key, given with the answer to one that has none; to be called before the answer begins. */
  keep(): string;
};

/** What a caller shows to prove who they are: the cookie, and the bearer of `Authorization` (RFC 6750). */
export function askerOf(c: Context, settings: Pick<Settings, 'publicUrl'>): { browser: Browser; bearer?: string } {
  const [, bearer] = /^Bearer +([\w.~+/-]{1,512}=*)$/i.exec(c.req.header('authorization') ?? '') ?? [];
  return { browser: browserOf(c, settings), ...(bearer === undefined ? {} : { bearer }) };
}

/** The browser that a request comes from, by its cookie. Over HTTPS the cookie is bound to the host (`__Host-`). */
export function browserOf(c: Context, settings: Pick<Settings, 'publicUrl'>): Browser {
  const secure = settings.publicUrl.startsWith('https://');
  const sent = secure ? getCookie(c, COOKIE, 'host') : getCookie(c, COOKIE);
  let key = sent !== undefined && KEY.test(sent) ? sent : undefined;
  let isGiven = false;
  return {
    ...(key === undefined ? {} : { key }),
    keep: () => {
      key ??= randomBytes(32).toString('hex');
      // No answer sets one cookie twice (RFC 6265 §4.1.1).
      if (isGiven) return key;
      isGiven = true;
      setCookie(c, COOKIE, key, {
        httpOnly: true,
        // The way back from a provider is a navigation from another site.
        sameSite: 'Lax',
        path: '/',
        maxAge: KEPT_SECONDS,
        ...(secure ? { secure, prefix: 'host' } : {}),
      });
      return key;
    },
  };
}
