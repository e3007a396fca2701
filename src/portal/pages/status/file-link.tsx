import { type ReactNode, useState } from 'react';
import { Message } from '../../parts/message.tsx';
import { useOnline } from '../../parts/online.ts';
import { status } from '../../wording/status.ts';

type Props = { readonly href: string; readonly isButton?: boolean; readonly children: ReactNode };

/** A link that the browser itself follows. Without a line it would lead to the browser's own page about that. */
export function FileLink({ href, isButton = false, children }: Props) {
  const isOnline = useOnline();
  const [isPressed, setPressed] = useState(false);
  return (
    <>
      <a
        href={href}
        {...(isButton && { className: 'button', 'data-rank': 'primary', 'data-kind': 'file' })}
        onClick={(event) => {
          // Some browsers are wrong about it, so a second press is let through.
          if (isOnline || isPressed) return;
          event.preventDefault();
          setPressed(true);
        }}
      >
        {children}
      </a>
      {isPressed && !isOnline && <Message kind="error" content={[status.withoutLine]} />}
    </>
  );
}
