import { useSyncExternalStore } from 'react';

function onChange(look: () => void): () => void {
  addEventListener('online', look);
  addEventListener('offline', look);
  return () => {
    removeEventListener('online', look);
    removeEventListener('offline', look);
  };
}

/** Whether the browser has a line, as far as it knows. */
export function useOnline(): boolean {
  return useSyncExternalStore(onChange, () => navigator.onLine);
}
