import { useEffect, useReducer, useRef, type ReactNode } from 'react';
import { setErrorInTitle } from './title.ts';

type Props = { readonly label?: string; readonly onSubmit: () => void; readonly children: ReactNode };

const WRONG_FIELD = '[aria-invalid=true]';
const UNDER_WAY = '[aria-busy=true]';
const REFUSAL = '.message[data-kind=error]';
const NEAREST = { block: 'nearest' } as const;

/**
 * A form without the browser's own validation, because the machine checks what is typed. If a submit ends in an error, the
 * focus moves to the wrong field, or to the first one that was emptied, and the error is scrolled into view.
 */
export function Form({ label, onSubmit, children }: Props) {
  const form = useRef<HTMLFormElement>(null);
  /** The fields that had something in them when the form was submitted; `null` when that has been answered. */
  const submitted = useRef<readonly HTMLInputElement[] | null>(null);
  // Makes the effect run after every submit, even one that changes nothing on the page.
  const [, lookAgain] = useReducer((submits: number) => submits + 1, 0);
  useEffect(() => {
    const wrong = form.current?.querySelector<HTMLElement>(WRONG_FIELD) ?? null;
    const refusal = form.current?.querySelector(REFUSAL) ?? null;
    const isWrong = wrong !== null || refusal !== null;
    setErrorInTitle(isWrong);
    if (submitted.current === null || !isWrong || form.current?.querySelector(UNDER_WAY)) return;
    const emptied = submitted.current.find(({ value }) => value === '');
    submitted.current = null;
    (wrong ?? emptied)?.focus();
    refusal?.scrollIntoView(NEAREST);
    // Last, so that the field is visible if there is no room for both.
    (wrong?.closest('.field') ?? emptied)?.scrollIntoView(NEAREST);
  });
  useEffect(() => {
    // With the portal's next version the script would be gone, and with it what is typed here by then.
    import('../calls.ts').catch(() => {});
    return () => setErrorInTitle(false);
  }, []);
  return (
    <form
      ref={form}
      className="stack"
      noValidate
      aria-label={label}
      // Whoever types on must keep the focus.
      onChange={() => (submitted.current = null)}
      onSubmit={(event) => {
        event.preventDefault();
        submitted.current = [...event.currentTarget.querySelectorAll('input')].filter(({ value }) => value !== '');
        onSubmit();
        lookAgain();
      }}
    >
      {children}
    </form>
  );
}
