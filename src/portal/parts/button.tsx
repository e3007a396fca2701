import { useState } from 'react';

type Props = {
  readonly children: string;
  readonly rank?: 'primary' | 'secondary' | 'quiet';
  readonly size?: 'large';
  /** `submit` submits the surrounding form; `onPress` is then omitted. */
  readonly type?: 'button' | 'submit';
  /** The button's action is under way: it keeps its place, its size and the focus, but can't be pressed. */
  readonly busy?: boolean;
  /** What a screen reader says meanwhile. The visible label only gets dots, so that the button keeps its accessible name. */
  readonly busyLabel?: string;
  readonly disabled?: boolean;
  /**
   * It is disabled only until a check is done, so it stays in the tab order: otherwise Tab would lead to the next button,
   * and that might be pressed instead.
   */
  readonly checking?: boolean;
  /** The longest label that the button ever shows, if that isn't its own with dots; room is kept for it. */
  readonly reserve?: string;
  /** The id of the element that says why the button is disabled. */
  readonly describedBy?: string;
  readonly onPress?: () => void;
};

export function Button({
  children,
  rank = 'secondary',
  size,
  type = 'button',
  busy = false,
  busyLabel,
  disabled = false,
  checking = false,
  reserve = busyLabel && dotted(children),
  describedBy,
  onPress,
}: Props) {
  const [hasFocus, setHasFocus] = useState(false);
  // Disabled, it would lose the focus to nothing.
  const waits = disabled && (checking || hasFocus);
  const isDotted = busy && busyLabel !== undefined;
  const button = (
    <button
      className="button"
      data-rank={rank}
      data-size={size}
      data-reserve={reserve}
      type={type}
      disabled={disabled && !waits}
      aria-label={isDotted ? children : undefined}
      aria-busy={busy || undefined}
      aria-disabled={busy || waits || undefined}
      aria-describedby={describedBy}
      onFocus={() => setHasFocus(true)}
      onBlur={() => setHasFocus(false)}
      onClick={(event) => {
        if (busy || waits) event.preventDefault();
        else onPress?.();
      }}
    >
      <span>{isDotted ? dotted(children) : children}</span>
    </button>
  );
  if (busyLabel === undefined) return button;
  return (
    <>
      {button}
      <span className="hidden-visually" aria-live="polite">
        {busy && busyLabel}
      </span>
    </>
  );
}

function dotted(label: string): string {
  return `${label}…`;
}
