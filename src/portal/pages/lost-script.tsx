import { useEffect } from 'react';
import { isPortalThere } from '../portal-there.ts';
import { LOST_OFFLINE } from '../script.ts';
import { UnavailablePage } from './unavailable.tsx';

function reload(): void {
  void isPortalThere().then((isThere) => isThere && location.reload());
}

/** Shown if a page's script can't be fetched; reloads once the browser is online again. */
export function LostScriptPage({ error }: { readonly error?: unknown }) {
  useEffect(() => {
    // Until then, the machine may have shown a page of its own.
    if (error instanceof Error && error.message === LOST_OFFLINE && navigator.onLine) reload();
    addEventListener('online', reload);
    return () => removeEventListener('online', reload);
  }, [error]);
  return <UnavailablePage onRetry={reload} />;
}
