import { validateImap } from '../../../contract/calls/validate-imap.ts';
import { readHost } from '../../../contract/mail-host.ts';
import { answersAsImap } from '../../network/imap-greeting.ts';
import { Refusal } from '../refusal.ts';
import type { Web } from '../services.ts';
import { route } from './route.ts';

/** All refusals take this long, so that open, closed and filtered ports can't be told apart. */
export const HOST_CHECK_MS = 3000;

export const answerValidateImap = route(
  validateImap,
  'host checks by a client',
  async ({ body }, { settings, resolver }: Pick<Web, 'settings' | 'resolver'>, visit) => {
    const host = readHost(body.imap);
    const refused = new Promise<false>((resolve) => {
      setTimeout(resolve, HOST_CHECK_MS, false);
    });
    const answers =
      host !== null &&
      (await Promise.race([
        refused,
        answersAsImap(host.name, host.port ?? 993, {
          trusted: settings.trustedMailHosts,
          resolver,
          signal: AbortSignal.any([visit.signal, AbortSignal.timeout(HOST_CHECK_MS)]),
        }).then((yes) => yes || refused),
      ]));
    if (!answers) throw new Refusal(400, 'INVALID_IMAP', 'Could not resolve IMAP host.');
    return { ok: true };
  },
);
