import type { CSSProperties } from 'react';

/** Longer ones take several lines whatever their size. */
const FITTED_LETTERS = 36;

/** An email address, which may break anywhere. One text, without `<wbr>`: a screen reader would read the parts of several. */
export function Address({ children }: { readonly children: string }) {
  return (
    <span
      className="strong address"
      style={children.length > FITTED_LETTERS ? undefined : ({ '--letters': children.length } as CSSProperties)}
    >
      {children}
    </span>
  );
}
