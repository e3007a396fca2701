import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { Refusal } from './refusal.ts';

const RETRY_SECONDS = 30;

/** Counts the long answers about each thing that are under way. */
export type Places<Key> = {
  /** Takes a place until the answer is complete. @throws {Refusal} 429 if all are taken */
  take(c: Context, key: Key): void;
};

/** @param refused what is said when all places are taken */
export function openPlaces<Key>(atOnce: number, refused: string): Places<Key> {
  const taken = new Map<Key, number>();
  return {
    take: (c, key) => {
      const { outgoing } = c.env as HttpBindings;
      // A response that has already closed would never give its place back.
      if (outgoing.destroyed) return;
      const before = taken.get(key) ?? 0;
      if (before >= atOnce) throw new Refusal(429, 'TOO_MANY_ATTEMPTS', refused, { retryAfter: RETRY_SECONDS });
      taken.set(key, before + 1);
      outgoing.once('close', () => {
        const left = (taken.get(key) ?? 0) - 1;
        if (left > 0) taken.set(key, left);
        else taken.delete(key);
      });
    },
  };
}
