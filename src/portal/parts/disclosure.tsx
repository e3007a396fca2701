import { useEffect, useId, useRef, type ReactNode } from 'react';
import { Icon } from './icon.tsx';

type Props = {
  readonly label: string;
  readonly open: boolean;
  /** The page appears because of what is in it: then it gets the focus, and is scrolled into sight. */
  readonly isWanted?: boolean;
  readonly onToggle: () => void;
  readonly children: ReactNode;
};

/** Longer than the time within which a browser counts two presses as a double one. */
const DOUBLE_PRESS_MS = 1000;

export function Disclosure({ label, open, isWanted = false, onToggle, children }: Props) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const pressedAt = useRef(-Infinity);
  // After the page's heading, which gets the focus otherwise.
  useEffect(() => {
    if (!isWanted) return;
    button.current?.focus({ preventScroll: true });
    button.current?.parentElement?.scrollIntoView({ block: 'nearest' });
  }, [isWanted]);
  return (
    <div className="disclosure" data-wanted={isWanted || undefined}>
      <button
        ref={button}
        className="disclosure-button"
        type="button"
        aria-expanded={open}
        aria-controls={id}
        onClick={({ detail, timeStamp }) => {
          // The second press of a double one would take back the first, unless that was on something else.
          const isSecond = detail > 1 && timeStamp - pressedAt.current < DOUBLE_PRESS_MS;
          pressedAt.current = timeStamp;
          if (!isSecond) onToggle();
        }}
      >
        <span>{label}</span>
        <Icon name="down" />
      </button>
      <div className="disclosure-body" id={id} hidden={!open}>
        {open && children}
      </div>
    </div>
  );
}
