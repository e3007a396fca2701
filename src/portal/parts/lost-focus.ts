import { useEffect, useLayoutEffect, useRef } from 'react';

/** Of a page that changes by itself: the focus goes to its heading when what had it was taken away. Who has pressed beside it has left it. */
export function useFocusThatIsLost(): void {
  const last = useRef<Element | null>(null);
  useEffect(() => {
    const leaving = new AbortController();
    const come = ({ target }: FocusEvent) => {
      last.current = target instanceof Element ? target : null;
    };
    const go = () =>
      queueMicrotask(() => {
        // Behind another window it keeps its place.
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
