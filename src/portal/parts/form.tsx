import { useEffect, useRef, type ReactNode } from 'react';
import { setErrorInTitle } from './title.ts';

type Props = { readonly label?: string; readonly onSubmit: () => void; readonly children: ReactNode };

const WRONG_FIELD = '[aria-invalid=true]';
const ERROR = `${WRONG_FIELD}, .message[data-kind=error]`;

/**
 * What is typed is checked by the machine, so the browser's own bubbles stay away. A submit that ends in an error leads
 * the focus to the field that is wrong, or to the first empty one where the error took the focus away.
 */
export function Form({ label, onSubmit, children }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const submitted = useRef(false);
  useEffect(() => {
    const error = form.current?.querySelector(ERROR) ?? null;
    setErrorInTitle(error !== null);
    if (!submitted.current || error === null) return;
    submitted.current = false;
    const wrong = form.current?.querySelector<HTMLElement>(WRONG_FIELD) ?? null;
    if (wrong !== null) wrong.focus();
    else if (document.activeElement === document.body)
      [...(form.current?.querySelectorAll('input') ?? [])].find(({ value }) => value === '')?.focus();
  });
  useEffect(() => () => setErrorInTitle(false), []);
  return (
    <form
      ref={form}
      className="stack"
      noValidate
      aria-label={label}
      // Whoever types on must keep the focus.
      onChange={() => (submitted.current = false)}
      onSubmit={(event) => {
        event.preventDefault();
        submitted.current = true;
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}
