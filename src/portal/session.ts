import { BLANK_SESSION } from '../../machines/wizard.context.ts';
import type { Session, Step } from '../../machines/wizard.types.ts';
import { scriptOf } from './script.ts';
import type { Stored } from './stored-session.ts';

/** The keys of `portal.md` §3. Text is kept as it is, all else as JSON. */
const BLANK = toStored(BLANK_SESSION);
const TEXT: readonly string[] = ['jwt', 'notificationContact', 'emailHash', 'emailExportType', 'contactsExportType'];
const KEYS = Object.keys(BLANK) as readonly (keyof Stored)[];

function toStored({ source, destination, ...rest }: Session): Stored {
  return { ...rest, srcAccount: source, dstAccount: destination, operations: rest.operations?.slice() ?? null };
}

/**
 * Reads the stored session. If one value does not match its schema, all are dropped, and the visitor starts at Home.
 * @param signedOut since it was stored: if it has a password, all is dropped but a message to support
 * @throws if the script that reads it can't be fetched; the stored session then stays as it is
 */
export async function readSession(storage: Storage | null, signedOut = false): Promise<Session> {
  if (storage === null || KEYS.every((key) => storage.getItem(key) === null)) return BLANK_SESSION;
  const { parseStored } = await scriptOf('stored-session', () => import('./stored-session.ts'));
  const found: Record<string, unknown> = {};
  try {
    for (const key of KEYS) {
      const text = storage.getItem(key);
      found[key] = text === null ? BLANK[key] : TEXT.includes(key) ? text : JSON.parse(text);
    }
    const { srcAccount, dstAccount, ...rest } = parseStored(found);
    if (signedOut && srcAccount?.password)
      return { ...BLANK_SESSION, ...(rest.draft?.issue ? { draft: rest.draft } : {}), letter: rest.letter };
    return { ...rest, source: srcAccount, destination: dstAccount };
  } catch {
    forgetSession(storage);
    return BLANK_SESSION;
  }
}

/** Keeps what survives a reload. A full storage keeps none of it, rather than a part that doesn't fit together. */
export function writeSession(storage: Storage | null, session: Session, currentStep: Step | null): void {
  if (storage === null) return;
  try {
    const stored = toStored(session);
    for (const key of KEYS) {
      const value = stored[key];
      if (value === BLANK[key]) storage.removeItem(key);
      else storage.setItem(key, typeof value === 'string' ? value : JSON.stringify(value));
    }
    if (currentStep === null) storage.removeItem('currentStep');
    else storage.setItem('currentStep', String(currentStep));
  } catch {
    forgetSession(storage);
  }
}

function forgetSession(storage: Storage): void {
  for (const key of [...KEYS, 'currentStep']) storage.removeItem(key);
}

/** Removes the scroll positions that the router keeps in the session storage between loads; it has read them by now. */
export function forgetScrolls(storage: Storage | null): void {
  if (storage === null) return;
  for (const key of Object.keys(storage)) if (key.startsWith('tsr-scroll-restoration')) storage.removeItem(key);
}

/** The key of the token that an earlier visit may have left in local storage (`decisions.md`). */
const TOKEN = 'token';

export function readStoredToken(storage: Storage | null): string | null {
  return storage?.getItem(TOKEN) ?? null;
}

export function dropStoredToken(storage: Storage | null): void {
  storage?.removeItem(TOKEN);
}

/** In the local storage: when this browser was last signed out. In that of a session: the last time its tab heard of. */
const SIGNED_OUT = 'signedOut';

const lastSignOut = (storage: Storage | null) => storage?.getItem(SIGNED_OUT) ?? '';

/** Tells the browser's other tabs, those too that are at another site now, or were closed and are opened again. */
export function tellSignOut(tab: Storage | null, local: Storage | null): void {
  keep(local, String(Date.now()));
  hearSignOut(tab, local);
}

/** Whether this browser was signed out in another tab, and this one has not heard of it. */
export function wasSignedOut(tab: Storage | null, local: Storage | null): boolean {
  const last = lastSignOut(local);
  return tab !== null && last !== '' && last !== lastSignOut(tab);
}

/** The same, once. */
export function hearSignOut(tab: Storage | null, local: Storage | null): boolean {
  const isNews = wasSignedOut(tab, local);
  if (isNews) keep(tab, lastSignOut(local));
  return isNews;
}

function keep(storage: Storage | null, last: string): void {
  try {
    storage?.setItem(SIGNED_OUT, last);
  } catch {
    // A full storage keeps nothing of a session either.
  }
}
