import { useId } from 'react';
import { FieldLabel } from './field-label.tsx';
import { describedBy, FieldNote, type Note } from './field-note.tsx';

type Props = {
  readonly label: string;
  readonly value: string;
  readonly onType: (text: string) => void;
  readonly help?: string;
  readonly note?: Note | undefined;
  readonly maxLength: number;
  readonly readOnly?: boolean;
};

export function TextArea({ label, value, onType, help, note, maxLength, readOnly }: Props) {
  const id = useId();
  return (
    <div className="field">
      <FieldLabel id={id} label={label} help={help} />
      <textarea
        id={id}
        className="input"
        rows={6}
        maxLength={maxLength}
        readOnly={readOnly}
        value={value}
        aria-invalid={note?.kind === 'error' || undefined}
        aria-describedby={describedBy(id, help)}
        onChange={(event) => onType(event.target.value)}
      />
      <FieldNote id={`${id}-note`} note={note} />
    </div>
  );
}
