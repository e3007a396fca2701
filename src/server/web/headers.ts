import type { MiddlewareHandler } from 'hono';
import type { Settings } from '../../contract/settings.ts';

const HSTS_SECONDS = 365 * 24 * 3600;

/** Sets the security headers of every answer, except those that a handler has already set. */
export function securityHeaders(settings: Settings): MiddlewareHandler {
  const headers: Record<string, string> = {
    'Content-Security-Policy': contentSecurityPolicy(settings),
    // A viewer at another origin gets its messages through the window that the portal opens.
    'Cross-Origin-Opener-Policy': settings.inspectorUrl === undefined ? 'same-origin' : 'same-origin-allow-popups',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
    ...(settings.publicUrl.startsWith('https://')
      ? { 'Strict-Transport-Security': `max-age=${HSTS_SECONDS}; includeSubDomains` }
      : {}),
  };
  return async (c, next) => {
    await next();
    // A download has a stricter policy of its own.
    for (const [name, value] of Object.entries(headers)) if (!c.res.headers.has(name)) c.res.headers.set(name, value);
  };
}

export function contentSecurityPolicy({ footerUrl, inspectorUrl }: Settings): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "object-src 'none'",
    // No script may insert markup, not even ours, since React creates elements. The inspector's viewer inserts its chart.
    ...(inspectorUrl === undefined ? ["require-trusted-types-for 'script'", "trusted-types 'none'"] : []),
    ...(footerUrl === undefined ? [] : [`frame-src ${new URL(footerUrl).origin}`]),
  ].join('; ');
}
