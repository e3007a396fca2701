import { useId } from 'react';
import { FieldLabel } from './field-label.tsx';

type Props<Value extends string> = {
  readonly label: string;
  /** `null` while nothing is chosen; then `prompt` shows. */
  readonly value: Value | null;
  readonly options: readonly { readonly value: Value; readonly text: string }[];
  readonly prompt: string;
  readonly help?: string;
  readonly onChoose: (value: Value) => void;
};

export function Choice<Value extends string>({ label, value, options, prompt, help, onChoose }: Props<Value>) {
  const id = useId();
  return (
    <div className="field">
      <FieldLabel id={id} label={label} help={help} />
      <div className="field-box" data-kind="choice">
        <select
          id={id}
          className="input"
          value={value ?? ''}
          aria-describedby={help === undefined ? undefined : `${id}-help`}
          onChange={(event) => {
            const chosen = options.find((option) => option.value === event.target.value);
            if (chosen !== undefined) onChoose(chosen.value);
          }}
        >
          <option value="" disabled>
            {prompt}
          </option>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.text}
            </option>
          ))}
        </select>
      </div>
    </div>
  );
}
