import { useEffect, useRef, type ReactNode } from 'react';
import { Icon } from './icon.tsx';

export type MessageKind = 'error' | 'success' | 'warning' | 'info';

type Props = {
  readonly kind: MessageKind;
  /** With a title the message is large, without one it is a single line. */
  readonly title?: string;
  /** A paragraph each. */
  readonly content?: readonly string[];
  readonly children?: ReactNode;
  /** The pointer or the focus came to the message, or left it. */
  readonly onHold?: () => void;
  readonly onRelease?: () => void;
};

export function Message({ kind, title, content = [], children, onHold, onRelease }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const isPointedAt = useRef(false);
  const release = () => {
    if (!isPointedAt.current && box.current?.contains(document.activeElement) !== true) onRelease?.();
  };
  // What happened must be seen, even if it is said below the fold of a small screen.
  useEffect(() => {
    if (title !== undefined) box.current?.scrollIntoView({ block: 'nearest' });
  }, [title]);
  return (
    <div
      ref={box}
      className="message"
      data-kind={kind}
      data-size={title === undefined ? 'small' : 'large'}
      role={kind === 'error' ? 'alert' : 'status'}
      // A message that appears or scrolls under a resting pointer is not being looked at.
      onPointerMove={({ movementX, movementY }) => {
        if (movementX === 0 && movementY === 0) return;
        isPointedAt.current = true;
        onHold?.();
      }}
      onPointerLeave={() => {
        isPointedAt.current = false;
        release();
      }}
      onFocus={onHold}
      onBlur={release}
    >
      <Icon name={kind} />
      <div>
        {title !== undefined && <p className="message-title">{title}</p>}
        {content.map((text) => (
          <p key={text}>{text}</p>
        ))}
        {children}
      </div>
    </div>
  );
}

/** Room for a message that comes and goes, so that nothing around it moves. */
export function MessagePlace({ size, children }: { readonly size?: 'small' | 'large'; readonly children: ReactNode }) {
  return (
    <div className="message-place" data-size={size}>
      {children}
    </div>
  );
}
