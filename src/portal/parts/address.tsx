import type { CSSProperties } from 'react';

/** An address of at most this many characters fits on one line everywhere on a phone. */
const SHORT = 24;
/** A longer address than this takes several lines even in small type. */
const FITTED = 36;

/**
 * An email address. One that may need two lines breaks after its "@" first. It consists of at most two text nodes, a short
 * one of a single one, because a screen reader may read each separately.
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
