import { createAccount } from '../../../contract/calls/create-account.ts';
import { isAtDomain } from '../../../contract/email-address.ts';
import { requireNoSignOut } from '../permission.ts';
import { conflictOf, createDestinationAccount } from '../provisioning.ts';
import { Refusal } from '../refusal.ts';
import type { Web } from '../services.ts';
import { route } from './route.ts';

type OurMoves = Pick<Web, 'transfers' | 'announcements'>;

/** Only the mailbox's owner can have an account created for it, so the password is verified first. */
export const answerCreateAccount = route(
  createAccount,
  'calls by a client',
  async (
    { body, query },
    services: Pick<Web, 'proofs' | 'sessions' | 'settings' | 'log' | 'vault'> & OurMoves,
    visit,
  ) => {
    const { proofs, settings } = services;
    const { email, password } = body;
    if (!isAtDomain(email, settings.legacyDomains))
      throw new Refusal(400, 'INVALID_EMAIL', `Please, enter a ${settings.legacyName} email address.`);
    await proofs.prove({ email, password, provider: 'sanbruno' }, visit);
    await requireNoSignOut(services, visit, email);
    try {
      await createDestinationAccount(services, { email, password, inQa: query.in_qa }, visit.signal);
    } catch (error) {
      throw await ofOurTransfers(error, email, services);
    }
    return { ok: true };
  },
);

/**
 * The service reports a move as in progress as soon as it has been announced, and never learns that a move has failed
 * or was stopped. The caller has proved to be the mailbox's owner, so they are told what became of the move, and may go
 * on if none is running.
 */
async function ofOurTransfers(error: unknown, email: string, { transfers, announcements }: OurMoves): Promise<unknown> {
  if (!(error instanceof Refusal) || error.code !== 'ACCOUNT_ALREADY_EXISTS_MIGRATION_IN_PROGRESS') return error;
  const running = await transfers.running(email);
  if (running !== null) return conflictOf(error.code, { transferId: running.id, cause: error });
  const last = await transfers.lastMove(email);
  if (last?.isCompleted === true)
    return conflictOf('ACCOUNT_ALREADY_EXISTS_MIGRATION_COMPLETED', { transferId: last.id, cause: error });
  const isOurs = last !== null || (await announcements.has(email));
  return isOurs ? conflictOf('ACCOUNT_ALREADY_CREATED', { cause: error }) : error;
}
