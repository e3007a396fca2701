import { createHash, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';

const digest = (text: string) => createHash('sha256').update(text).digest();

/** Middleware that rejects requests without this bearer token (RFC 6750). */
export function bearer(token: string): MiddlewareHandler {
  return async (c, next) => {
    const given = bearerOf(c.req.header('authorization'));
    if (given === undefined || !timingSafeEqual(digest(given), digest(token))) {
      c.header('www-authenticate', 'Bearer');
      return c.json({ error: 'INVALID_TOKEN', message: 'The bearer token is missing or wrong.' }, 401);
    }
    await next();
  };
}

export function bearerOf(header: string | undefined): string | undefined {
  return /^Bearer (\S+)$/i.exec(header ?? '')?.[1];
}
