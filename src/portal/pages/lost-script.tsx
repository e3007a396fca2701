import { useEffect } from 'react';
import { isPortalThere } from '../portal-there.ts';
import { UnavailablePage } from './unavailable.tsx';

function reload(): void {
  void isPortalThere().then((isThere) => isThere && location.reload());
}

/** A page's own script could not be fetched: it waits until the portal is there. */
export function LostScriptPage() {
  useEffect(() => {
    addEventListener('online', reload);
    return () => removeEventListener('online', reload);
  }, []);
  return <UnavailablePage onRetry={reload} />;
}
