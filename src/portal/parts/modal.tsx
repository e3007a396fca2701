import { useEffect, useId, useLayoutEffect, useRef, type ReactNode } from 'react';
import { Icon } from './icon.tsx';

type Props = {
  readonly title: string;
  readonly closeLabel: string;
  /** What is said above the first field. As that has the focus, a screen reader would pass over it. */
  readonly lead?: ReactNode;
  /** Escape, the close button, or a press on the background. */
  readonly onClose: () => void;
  readonly children: ReactNode;
};

/** A modal dialog, open as long as it is rendered. The focus goes to its first field, else its title, and back. */
export function Modal({ title, closeLabel, lead, onClose, children }: Props) {
  const heading = useId();
  const said = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const close = useRef(onClose);
  useEffect(() => {
    close.current = onClose;
  });
  useLayoutEffect(() => {
    const element = dialog.current;
    if (element === null) return;
    let pressed = false;
    const press = (event: PointerEvent) => {
      pressed = event.target === element;
    };
    // Not if the press began in the dialog: selecting text in a field may end on the background.
    const click = (event: MouseEvent) => {
      if (pressed && event.target === element) close.current();
    };
    const cancel = (event: Event) => {
      event.preventDefault();
      close.current();
    };
    const reopen = () => {
      close.current();
      if (element.isConnected) element.showModal();
    };
    element.showModal();
    (element.querySelector<HTMLElement>('input') ?? element.querySelector('h2'))?.focus();
    element.addEventListener('pointerdown', press);
    element.addEventListener('click', click);
    element.addEventListener('cancel', cancel);
    // The browser closes a dialog by itself at a second Escape, even if it must stay.
    element.addEventListener('close', reopen);
    return () => {
      element.removeEventListener('close', reopen);
      element.close();
    };
  }, []);
  return (
    <dialog ref={dialog} className="modal" aria-labelledby={heading} aria-describedby={lead ? said : undefined}>
      <div className="modal-inner">
        <h2 id={heading} tabIndex={-1}>
          {title}
        </h2>
        {lead && (
          <div id={said} className="modal-lead">
            {lead}
          </div>
        )}
        {children}
      </div>
      <div className="modal-top">
        <button className="modal-close" type="button" aria-label={closeLabel} onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
    </dialog>
  );
}
