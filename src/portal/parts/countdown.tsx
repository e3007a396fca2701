import type { ReactNode } from 'react';

type Props = {
  /** Such as `41 days`. */
  readonly figure: string;
  readonly children: ReactNode;
};

/** The time left, large, and beside it what ends then. */
export function Countdown({ figure, children }: Props) {
  return (
    <div className="countdown" role="timer" aria-live="off">
      <p className="countdown-figure">{figure}</p>
      <div className="countdown-words">{children}</div>
    </div>
  );
}
