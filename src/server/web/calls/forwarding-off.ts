import { forwardingOff } from '../../../contract/calls/forwarding-off.ts';
import { switchOffForwarding } from '../../forwarding/set-up-forwarding.ts';
import { openSieveSession, sievePlaceOf } from '../../forwarding/sieve-session.ts';
import { MailError } from '../../mail/imap/mail-error.ts';
import { forwardingOf, noteForwardingOff } from '../../transfers/forwardings.ts';
import { Refusal } from '../refusal.ts';
import type { Web } from '../services.ts';
import { route } from './route.ts';

/** For the whole session with the ManageSieve server. */
const WITHIN_MS = 20_000;

export const answerForwardingOff = route(
  forwardingOff,
  'calls by a client',
  async (
    { body },
    { settings, database, proofs, log }: Pick<Web, 'settings' | 'database' | 'proofs' | 'log'>,
    visit,
  ) => {
    const { job_id: id, password } = body;
    const forwarding = await forwardingOf(database, id);
    if (forwarding === null) throw new Refusal(404, 'MIGRATION_ID_NOT_FOUND', 'Your transfer ID has not been found.');
    const { sourceEmail: email, to } = forwarding;
    await proofs.prove({ email, password, provider: 'sanbruno' }, visit);
    const place = sievePlaceOf(settings);
    if (!forwarding.isOn || place === null)
      throw new Refusal(409, 'OPERATION_NOT_ALLOWED', 'Forwarding is not on for this transfer.');
    try {
      const signal = AbortSignal.any([visit.signal, AbortSignal.timeout(WITHIN_MS)]);
      await using session = await openSieveSession({ email, password, place }, signal);
      await switchOffForwarding(session, to);
    } catch (error) {
      if (!(error instanceof MailError) && !(error instanceof DOMException)) throw error;
      log.warn({ err: error, transferId: id }, 'forwarding could not be switched off');
      throw new Refusal(502, 'GENERAL_ERROR', 'Forwarding is still on. Please try again in a few minutes.');
    }
    await noteForwardingOff(database, id);
    return { ok: true as const };
  },
);
