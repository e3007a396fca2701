import { isPortalThere } from './portal-there.ts';
import { openStorage } from './storage.ts';

/** Marks in the session storage, by the script for which the portal has been loaded anew. */
const RELOADED = 'reloaded-for:';

/**
 * A script that comes when it is needed. One that can't be fetched though the portal is there went with an earlier
 * version: the portal is loaded anew, once until that script has come.
 * @throws when that did not help, or the portal is away as well
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
    // Not as the browser says it: the router would load the portal anew by itself.
    throw new Error('A part of the portal could not be fetched.', { cause });
  }
}

/** For a visitor who tries again: the portal may be loaded anew once more. */
export function forgetReloads(): void {
  const tab = openStorage('sessionStorage');
  for (const key of Object.keys(tab ?? {})) if (key.startsWith(RELOADED)) tab?.removeItem(key);
}
