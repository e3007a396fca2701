import { signOut } from '../../../contract/calls/sign-out.ts';
import { sessionOver } from '../refusal.ts';
import type { Web } from '../services.ts';
import { route } from './route.ts';

/** Succeeds without a sign-in too, since there is none afterwards either way; only signing out everywhere requires one. */
export const answerSignOut = route(
  signOut,
  'calls by a client',
  async ({ body }, { sessions, consents, securityLog }: Pick<Web, 'sessions' | 'consents' | 'securityLog'>, visit) => {
    const { bearer, browser, client } = visit;
    const everywhere = body.everywhere === true;
    const ended = everywhere ? await sessions.endEverywhere(visit, body.email) : [];
    if (bearer !== undefined) await sessions.end(bearer);
    if (browser.key !== undefined) await sessions.endOfBrowser(browser.key);
    await consents.end([...(browser.key === undefined ? [] : [consents.nameOf(browser.key)]), ...(ended ?? [])]);
    if (ended === null) throw sessionOver();
    securityLog(everywhere ? 'signed out everywhere' : 'signed out', { client });
    return { ok: true };
  },
);
