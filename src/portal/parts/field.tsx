import { useId, useLayoutEffect, useRef, useState, type HTMLInputAutoCompleteAttribute } from 'react';
import { addressIn } from './address-in.ts';
import { FieldLabel } from './field-label.tsx';
import { describedBy, FieldNote, type Note } from './field-note.tsx';

export type FieldProps = {
  readonly label: string;
  readonly value: string;
  readonly onType: (text: string) => void;
  /** The field lost the focus, or Enter was pressed. */
  readonly onLeave?: () => void;
  /** Enter was pressed, even if the form can not be submitted yet. */
  readonly onEnter?: () => void;
  readonly name: string;
  readonly help?: string | undefined;
  readonly note?: Note | undefined;
  /** The longest error of its notes, where that takes more lines than most. */
  readonly reserve?: string;
  readonly placeholder?: string;
  readonly autoComplete?: HTMLInputAutoCompleteAttribute;
  readonly inputMode?: 'email' | 'url' | 'text';
  readonly maxLength?: number;
  readonly readOnly?: boolean;
  /** Its letters and digits are read one by one. */
  readonly code?: boolean;
};

/** The key code of each key that an input method has taken. */
const INPUT_METHOD = 229;

/** A line of text: label and help above, what is to be mended right under it. */
export function Field({
  label,
  value,
  onType,
  onLeave,
  onEnter,
  help,
  note,
  reserve,
  readOnly,
  code,
  ...input
}: FieldProps) {
  const id = useId();
  const box = useRef<HTMLInputElement>(null);
  const caret = useRef<number | null>(null);
  /** What an input method, such as a phone's keyboard, is composing. Changed by us, it would be inserted once more. */
  const [composed, setComposed] = useState<string | null>(null);
  // The machine may change the value (to lower case), which would move the caret to the end.
  useLayoutEffect(() => {
    if (caret.current !== null && document.activeElement === box.current)
      box.current?.setSelectionRange(caret.current, caret.current);
    caret.current = null;
  });
  return (
    <div className="field">
      <FieldLabel id={id} label={label} help={help} />
      <input
        {...input}
        ref={box}
        id={id}
        className="input"
        data-code={code}
        type="text"
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
        value={composed ?? value}
        readOnly={readOnly}
        aria-invalid={note?.kind === 'error' || undefined}
        aria-describedby={describedBy(id, help)}
        onChange={({ target, nativeEvent }) => {
          const isComposing = 'isComposing' in nativeEvent && nativeEvent.isComposing === true;
          setComposed(isComposing ? target.value : null);
          const text = addressIn(target.value, cameAtOnce(nativeEvent));
          if (!isComposing) caret.current = caretIn(text, target);
          onType(text);
        }}
        onCompositionEnd={({ currentTarget }) => {
          // Where nothing was composed, nothing is rendered now, and what is rendered later would move the caret.
          if (composed !== null) caret.current = currentTarget.selectionStart;
          setComposed(null);
        }}
        onBlur={onLeave}
        onKeyDown={({ key, nativeEvent: { isComposing, keyCode } }) => {
          // With Enter an input method takes what is composed; where that is over by now, only 229 tells.
          if (key !== 'Enter' || isComposing || keyCode === INPUT_METHOD) return;
          onLeave?.();
          onEnter?.();
        }}
      />
      <FieldNote id={`${id}-note`} note={note} reserve={reserve} />
    </div>
  );
}

/** Where the caret is after something before it may have been removed. */
function caretIn(text: string, { value, selectionStart }: HTMLInputElement): number | null {
  const after = selectionStart === null ? value : value.slice(selectionStart);
  return text.endsWith(after) ? text.length - after.length : selectionStart;
}

/**
 * Whether a text was pasted, dropped or filled in, rather than typed or deleted letter by letter, or composed by an input
 * method: `isComposing` is not set for each of the last by Safari, and for none before 16.4.
 */
function cameAtOnce({ inputType = 'insert', data, isComposing = false }: Partial<InputEvent>): boolean {
  return /^insert(?!.*Composition)/.test(inputType) && data?.length !== 1 && !isComposing;
}
