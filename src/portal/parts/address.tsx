import type { CSSProperties } from 'react';

/** An address of at most this many characters fits on one line everywhere on a phone. */
const SHORT = 24;
/** A longer address than this takes several lines even in small type. */
const FITTED = 36;

type Props = {
  readonly children: string;
  /** Another one that it is to be as large as. */
  readonly like?: string | undefined;
};

/**
 * An email address. One that may need two lines breaks after its "@" first. It consists of at most two text nodes, a short
 * one of a single one, because a screen reader may read each separately.
 */
export function Address({ children, like = '' }: Props) {
  const domain = children.length > SHORT ? domainIn(children) : 0;
  return (
    <span className="strong address" style={sizing(like.length > children.length ? like : children)}>
      {domain > 0 && <span>{children.slice(0, domain)}</span>}
      {domain > 0 ? <span>{children.slice(domain)}</span> : children}
    </span>
  );
}

const domainIn = (address: string) => address.lastIndexOf('@') + 1;

/** By how many letters the size goes. */
function sizing(address: string): CSSProperties | undefined {
  const { length } = address;
  const domain = domainIn(address);
  const letters = length > FITTED ? Math.max(domain, length - domain) : length;
  return letters > FITTED ? undefined : ({ '--letters': letters } as CSSProperties);
}
