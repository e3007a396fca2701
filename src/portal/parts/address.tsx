import type { CSSProperties } from 'react';

/** What is no longer has one line in any place of a phone. */
const SHORT = 24;
/** What is longer takes several lines whatever its size. */
const FITTED = 36;

/**
 * An email address. One that may take two lines breaks after its "@" first. A short one is of one text, and none of more
 * than two: a screen reader may read each by itself.
 */
export function Address({ children }: { readonly children: string }) {
  const { length } = children;
  const domain = length > SHORT ? children.lastIndexOf('@') + 1 : 0;
  const letters = length > FITTED ? Math.max(domain, length - domain) : length;
  return (
    <span className="strong address" style={letters > FITTED ? undefined : ({ '--letters': letters } as CSSProperties)}>
      {domain > 0 && <span>{children.slice(0, domain)}</span>}
      {domain > 0 ? <span>{children.slice(domain)}</span> : children}
    </span>
  );
}
