import { useEffect, useReducer, useRef, type ReactNode } from 'react';
import { setErrorInTitle } from './title.ts';

type Props = { readonly label?: string; readonly onSubmit: () => void; readonly children: ReactNode };

const WRONG_FIELD = '[aria-invalid=true]';
const UNDER_WAY = '[aria-busy=true]';
const REFUSAL = '.message[data-kind=error]';
const NEAREST = { block: 'nearest' } as const;

/**
 * What is typed is checked by the machine, so the browser's own bubbles stay away. A submit that ends in an error leads
 * the focus to the field that is wrong, or to the first one that has been emptied, and what is said into view.
 */
export function Form({ label, onSubmit, children }: Props) {
  const form = useRef<HTMLFormElement>(null);
  /** The fields that had something in them when the form was submitted; `null` when that has been answered. */
  const submitted = useRef<readonly HTMLInputElement[] | null>(null);
  // A submit that changes nothing is looked at as well.
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
    // Last: where there is no room for both, the field is what is to be used.
    (wrong?.closest('.field') ?? emptied)?.scrollIntoView(NEAREST);
  });
  useEffect(() => () => setErrorInTitle(false), []);
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
