import type { ReactNode } from 'react';

type Props = {
  readonly children: ReactNode;
  readonly rank?: 'primary' | 'secondary' | 'quiet';
  readonly size?: 'large';
  /** `submit` sends the form around it; then `onPress` is left out. */
  readonly type?: 'button' | 'submit';
  /** The button's work is under way: it keeps its place, its size and the focus, and takes no presses. */
  readonly busy?: boolean;
  readonly disabled?: boolean;
  /** The longest label that this button ever shows; it keeps room for it. */
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
  disabled = false,
  reserve,
  describedBy,
  onPress,
}: Props) {
  return (
    <button
      className="button"
      data-rank={rank}
      data-size={size}
      data-reserve={reserve}
      type={type}
      disabled={disabled}
      aria-busy={busy || undefined}
      aria-disabled={busy || undefined}
      aria-describedby={describedBy}
      onClick={(event) => {
        if (busy) event.preventDefault();
        else onPress?.();
      }}
    >
      <span>{children}</span>
    </button>
  );
}
