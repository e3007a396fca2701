import { signOut } from '../../../contract/calls/sign-out.ts';
import type { Web } from '../services.ts';
import { route } from './route.ts';

/** Who has no sign-in is answered the same: there is none afterwards. */
export const answerSignOut = route(
  signOut,
  'calls by a client',
  async ({ body }, { sessions, consents, securityLog }: Pick<Web, 'sessions' | 'consents' | 'securityLog'>, visit) => {
    const { bearer, browser, client } = visit;
    if (bearer !== undefined) await sessions.end(bearer);
    if (browser.key !== undefined) {
      await sessions.endOfBrowser(browser.key);
      await consents.end(browser.key, body.hash);
    }
    securityLog('signed out', { client });
    return { ok: true };
  },
);
