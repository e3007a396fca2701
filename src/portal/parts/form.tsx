import type { ReactNode } from 'react';

type Props = { readonly label?: string; readonly onSubmit: () => void; readonly children: ReactNode };

/** What is typed is checked by the machine, so the browser's own bubbles stay away. */
export function Form({ label, onSubmit, children }: Props) {
  return (
    <form
      className="stack"
      noValidate
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}
