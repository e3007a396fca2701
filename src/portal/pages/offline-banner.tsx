import { useSyncExternalStore } from 'react';
import { shared } from '../wording.ts';

function onChange(look: () => void): () => void {
  addEventListener('online', look);
  addEventListener('offline', look);
  return () => {
    removeEventListener('online', look);
    removeEventListener('offline', look);
  };
}

export function OfflineBanner() {
  const online = useSyncExternalStore(onChange, () => navigator.onLine);
  return <div role={online ? undefined : 'status'}>{!online && <p className="offline">{shared.offline}</p>}</div>;
}
