import { ContactStoreError, isOfOne } from './contact-store.ts';
import type { Part } from './parts.ts';

export const PHOTO_NOT_TAKEN = 'The photo was not accepted there.';

/** @param notes what `putPhoto` gave */
export function staysOf(notes: readonly string[]): Part[] {
  return notes.length === 0 ? [] : ['photo'];
}

/** Puts a photo, and says so when the store does not want it: a photo alone never keeps a whole copy from its end. */
export async function putPhoto(put: () => Promise<{ readonly status: number }>): Promise<string[]> {
  const status = await put().then(
    (answer) => answer.status,
    (error: unknown) => {
      if (!(error instanceof ContactStoreError) || !isOfOne(error)) throw error;
      return error.status ?? 0;
    },
  );
  return status >= 200 && status < 300 ? [] : [PHOTO_NOT_TAKEN];
}
