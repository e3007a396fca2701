import { ContactStoreError, isOfOne } from './contact-store.ts';
import type { Part } from './parts.ts';

export const PHOTO_NOT_TAKEN = 'The photo was not accepted there.';

/** @param notes as returned by `putPhoto` */
export function staysOf(notes: readonly string[]): Part[] {
  return notes.length === 0 ? [] : ['photo'];
}

/** Stores a photo, and notes if it is refused: a photo must not keep a copy from completing. */
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
