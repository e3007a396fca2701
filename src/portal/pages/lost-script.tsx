import { useEffect } from 'react';
import { UnavailablePage } from './unavailable.tsx';

const reload = () => location.reload();

/** A page's own script could not be fetched. Without a line a reload would end at the browser's own error page: it waits. */
export function LostScriptPage() {
  useEffect(() => {
    addEventListener('online', reload);
    return () => removeEventListener('online', reload);
  }, []);
  return <UnavailablePage onRetry={() => navigator.onLine && reload()} />;
}
