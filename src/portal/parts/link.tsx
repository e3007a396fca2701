import type { ReactNode } from 'react';

type Props = {
  readonly href: string;
  readonly children: ReactNode;
  readonly className?: string;
  /** With `className="button"`, as a button's. */
  readonly rank?: 'primary' | 'secondary';
  /** Called instead of following a plain click. A click that opens a new tab or window is left to the browser. */
  readonly onFollow?: () => void;
};

export function Link({ href, children, className, rank = 'secondary', onFollow }: Props) {
  return (
    <a
      href={href}
      className={className}
      data-rank={className === 'button' ? rank : undefined}
      onClick={(event) => {
        if (onFollow === undefined || event.button !== 0) return;
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        onFollow();
      }}
    >
      {children}
    </a>
  );
}
