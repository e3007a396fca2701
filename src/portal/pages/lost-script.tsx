import { useEffect } from 'react';
import { isPortalThere } from '../portal-there.ts';
import { UnavailablePage } from './unavailable.tsx';

function reload(): void {
  void isPortalThere().then((isThere) => isThere && location.reload());
}

/** Shown if a page's script can't be fetched; reloads once the browser is online again. */
export function LostScriptPage() {
  useEffect(() => {
    addEventListener('online', reload);
    return () => removeEventListener('online', reload);
  }, []);
  return <UnavailablePage onRetry={reload} />;
}
