import { validateImap } from '../../../contract/calls/validate-imap.ts';
import { readHost } from '../../../contract/mail-host.ts';
import { HostError, resolvePublicHost } from '../../network/public-address.ts';
import { Refusal } from '../refusal.ts';
import type { Web } from '../services.ts';
import { route } from './route.ts';

/** All refusals take this long, so that names that are unknown and names that lead inside can't be told apart. */
export const HOST_CHECK_MS = 3000;

/** Connects to nothing: whether a mail server answers there is for the sign-in to say. */
export const answerValidateImap = route(
  validateImap,
  'host checks by a client',
  async ({ body }, { settings, resolver }: Pick<Web, 'settings' | 'resolver'>) => {
    const host = readHost(body.imap);
    const refused = new Promise<false>((resolve) => {
      setTimeout(resolve, HOST_CHECK_MS, false);
    });
    const resolves =
      host !== null &&
      (await Promise.race([
        refused,
        resolvePublicHost(host.name, host.port ?? 993, { trusted: settings.trustedMailHosts, resolver }).then(
          () => true,
          (error: unknown) => {
            if (error instanceof HostError) return refused;
            throw error;
          },
        ),
      ]));
    if (!resolves) throw new Refusal(400, 'INVALID_IMAP', 'Could not resolve IMAP host.');
    return { ok: true };
  },
);
