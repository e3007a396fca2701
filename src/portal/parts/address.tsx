import type { CSSProperties } from 'react';

/** Longer ones take several lines whatever their size. */
const FITTED_LETTERS = 36;

/** An email address, which may break anywhere. One text, without `<wbr>`: a screen reader would read the parts of several. */
export function Address({ children }: { readonly children: string }) {
  if (children.length > FITTED_LETTERS) return <span className="strong">{children}</span>;
  return (
    <span className="strong address" style={{ '--letters': children.length } as CSSProperties}>
      {children}
    </span>
  );
}
