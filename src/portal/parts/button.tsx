import { useState } from 'react';

type Props = {
  readonly children: string;
  readonly rank?: 'primary' | 'secondary' | 'quiet';
  readonly size?: 'large';
  /** `submit` sends the form around it; then `onPress` is left out. */
  readonly type?: 'button' | 'submit';
  /** The button's work is under way: it keeps its place, its size and the focus, and takes no presses. */
  readonly busy?: boolean;
  /** What is said aloud meanwhile. To the eye its label goes on with dots: it keeps the name by which it was found. */
  readonly busyLabel?: string;
  readonly disabled?: boolean;
  /**
   * It is disabled only until something has been checked, and keeps its place among what the keys lead to: what comes
   * after it is not pressed in its stead.
   */
  readonly checking?: boolean;
  /** The longest label that this button ever shows, where that isn't its own with dots; it keeps room for it. */
  readonly reserve?: string;
  /** The id of what says why it is disabled. */
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
