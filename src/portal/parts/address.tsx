import { Fragment } from 'react';

/** An email address that breaks, where it must, after its `@` and its dots rather than within a word. */
export function Address({ children }: { readonly children: string }) {
  const parts = children.split(/(?<=[@.])/);
  return (
    <span className="strong">
      {parts.map((part, index) => (
        <Fragment key={parts.slice(0, index + 1).join('')}>
          {part}
          <wbr />
        </Fragment>
      ))}
    </span>
  );
}
