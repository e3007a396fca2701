import type { ReactNode } from 'react';

type Props = {
  /** Of the control that is labelled; the help has `${id}-help`. */
  readonly id: string;
  readonly label: string;
  readonly help?: ReactNode;
};

/** What stands above the control of a field. */
export function FieldLabel({ id, label, help }: Props) {
  return (
    <>
      <label className="field-label" htmlFor={id}>
        {label}
      </label>
      {help !== undefined && (
        <p className="field-help" id={`${id}-help`}>
          {help}
        </p>
      )}
    </>
  );
}
