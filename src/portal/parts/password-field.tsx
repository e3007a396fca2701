import { type ReactNode, useId, useState } from 'react';
import { FieldLabel } from './field-label.tsx';
import { describedBy, FieldNote, type Note } from './field-note.tsx';

type Props = {
  readonly label: string;
  readonly value: string;
  readonly onType: (text: string) => void;
  /** The button's visible words, and what they are about, for those who hear it alone. */
  readonly words: { readonly show: string; readonly hide: string; readonly what: string };
  readonly help?: ReactNode;
  readonly note?: Note | undefined;
  readonly autoComplete?: 'current-password' | 'off';
  readonly readOnly?: boolean;
};

export function PasswordField(props: Props) {
  const { label, value, onType, words, help, note, autoComplete = 'current-password', readOnly } = props;
  const id = useId();
  const [shown, setShown] = useState(false);
  return (
    <div className="field">
      <FieldLabel id={id} label={label} help={help} />
      <div className="field-box" data-kind="password">
        <input
          id={id}
          name="password"
          className="input"
          type={shown && readOnly !== true ? 'text' : 'password'}
          autoComplete={autoComplete}
          autoCapitalize="none"
          autoCorrect="off"
          spellCheck={false}
          value={value}
          readOnly={readOnly}
          aria-invalid={note?.kind === 'error' || undefined}
          aria-describedby={describedBy(id, help)}
          onChange={(event) => onType(event.target.value)}
        />
        <button className="password-show" type="button" aria-controls={id} onClick={() => setShown(!shown)}>
          <span>{shown ? words.hide : words.show}</span> <span className="hidden-visually">{words.what}</span>
        </button>
      </div>
      <FieldNote id={`${id}-note`} note={note} />
    </div>
  );
}
