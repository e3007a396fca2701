import { useEffect, useLayoutEffect, useRef } from 'react';

/**
 * For a page that changes by itself: if the focused element is removed, the heading gets the focus. Not if the visitor
 * has clicked elsewhere.
 */
export function useFocusThatIsLost(): void {
  const last = useRef<Element | null>(null);
  useEffect(() => {
    const leaving = new AbortController();
    const come = ({ target }: FocusEvent) => {
      last.current = target instanceof Element ? target : null;
    };
    const go = () =>
      queueMicrotask(() => {
        // If only the window lost the focus, the active element stays the same.
        if (document.activeElement === document.body && last.current?.isConnected === true) last.current = null;
      });
    addEventListener('focusin', come, { signal: leaving.signal });
    addEventListener('focusout', go, { signal: leaving.signal });
    return () => leaving.abort();
  }, []);
  useLayoutEffect(() => {
    if (last.current?.isConnected === false && document.activeElement === document.body)
      document.querySelector<HTMLElement>('#main h1')?.focus();
  });
}
