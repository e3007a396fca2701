import { isPortalThere } from './portal-there.ts';
import { openStorage } from './storage.ts';

/** The prefix of marks in the session storage, one for each script that the portal has been reloaded for. */
const RELOADED = 'reloaded-for:';

/** The message of the error when the browser was offline. */
export const LOST_OFFLINE = 'offline';

/**
 * Fetches a script when it is needed. If that fails although the portal can be reached, the script belongs to an earlier
 * version that has been replaced: the portal is reloaded, but only once until the script has been fetched.
 * @throws if that did not help, or the portal can't be reached either
 */
export async function scriptOf<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  const tab = openStorage('sessionStorage');
  const mark = RELOADED + name;
  try {
    const module = await load().catch(load);
    tab?.removeItem(mark);
    return module;
  } catch (cause) {
    if (tab?.getItem(mark) === null && (await isPortalThere())) {
      tab.setItem(mark, '');
      location.reload();
      await new Promise(() => {});
    }
    // Not the browser's own error, at which the router would reload the portal by itself.
    throw new Error(navigator.onLine ? 'A script could not be fetched.' : LOST_OFFLINE, { cause });
  }
}

/** Allows another reload for each script, because the visitor has pressed "Try again". */
export function forgetReloads(): void {
  const tab = openStorage('sessionStorage');
  for (const key of Object.keys(tab ?? {})) if (key.startsWith(RELOADED)) tab?.removeItem(key);
}
