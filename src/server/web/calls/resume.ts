import { resume } from '../../../contract/calls/resume.ts';
import { isTokenForm } from '../../oauth/tokens.ts';
import { isCredentialRefused, putRight, restingOperations } from '../../transfers/attention.ts';
import { credentialsIfAny, type Role, type Secret } from '../../transfers/credentials.ts';
import type { TransferOrder } from '../../transfers/orders.ts';
import type { Sql } from '../../store/database.ts';
import { transferById, type Transfer } from '../../transfers/transfer.ts';
import { likenessOf } from '../likeness.ts';
import { requireManager } from '../permission.ts';
import type { Claim } from '../proof.ts';
import { Refusal } from '../refusal.ts';
import type { Web } from '../services.ts';
import type { Visit } from '../visit.ts';
import { route } from './route.ts';

/** What is needed to prove new credentials, and to go on with them. */
export type Proving = Pick<
  Web,
  'database' | 'safe' | 'queue' | 'tokens' | 'owners' | 'sessions' | 'securityLog' | 'proofs' | 'consents' | 'limits'
>;

type Resuming = Proving & Pick<Web, 'verifiers'>;

/**
 * Resumes a transfer that is waiting for its owner, with new credentials once they are verified. A transfer that only
 * has to be retried needs none.
 */
export const answerResume = route(resume, 'calls by a client', async ({ body }, services: Resuming, visit) => {
  const { job_id: id } = body;
  await requireManager(services, visit, id);
  const { database } = services;
  const transfer = await transferById(database, id);
  const resting = await restingOperations(database, id);
  const wanted = resting.find(({ side }) => body.side === undefined || side === body.side);
  if (transfer === null || wanted === undefined)
    throw new Refusal(409, 'OPERATION_NOT_ALLOWED', 'There is nothing to put right with this transfer.');
  const { side, reason } = wanted;
  const secret = await provenSecret(transfer, side, body, services, visit);
  if (secret === null && isCredentialRefused(reason)) throw notGiven(side);
  if (!(await goOn(transfer, side, secret, services)))
    throw new Refusal(409, 'OPERATION_NOT_ALLOWED', 'There is nothing to put right with this transfer.');
  if (side === 'source' && secret?.kind === 'password' && transfer.destinationProvider === 'file_export')
    await services.verifiers.keep(id, transfer.sourceEmail, secret.password);
  services.securityLog('transfer put right', { client: visit.client, transferId: id, what: `${side} ${reason}` });
  return { ok: true as const };
});

type GoingOn = Pick<Web, 'database' | 'safe' | 'queue' | 'tokens' | 'limits'>;

/**
 * Resumes the operations that are waiting because of one side, replacing its secret with a verified one. Each time its
 * contact may get another letter.
 * @throws {Refusal} 429
 * @returns whether there were any
 */
async function goOn(transfer: Transfer, side: Role, secret: Secret | null, services: GoingOn): Promise<boolean> {
  const { database, safe, tokens, limits } = services;
  const { id, sourceEmail } = transfer;
  const mailbox = likenessOf(sourceEmail);
  const admit = (sql: Sql) => limits.within(sql).take('times that transfers of a mailbox are put right', mailbox);
  const before = await credentialsIfAny(database, safe, id, side);
  if (!(await putRight(services, transfer, side, secret, admit))) return false;
  if (secret?.kind === 'token') await tokens.keep(secret.tokenId);
  if (before?.kind === 'token' && secret !== null && !(secret.kind === 'token' && secret.tokenId === before.tokenId))
    await tokens.forget(before.tokenId);
  return true;
}

/**
 * A transfer that rests goes on when it is ordered again, with the credentials that were proven for the order.
 * @returns whether it works with the order's token now
 */
export async function putRightBy(
  { source, destination }: TransferOrder,
  id: string,
  services: GoingOn,
): Promise<boolean> {
  const transfer = await transferById(services.database, id);
  const sides = new Set((await restingOperations(services.database, id)).map(({ side }) => side));
  if (transfer === null) return false;
  const { tokenId, password } = destination;
  if (sides.has('source')) await goOn(transfer, 'source', { kind: 'password', password: source.password }, services);
  if (!sides.has('destination')) return false;
  const given: Secret | null = password === undefined ? null : { kind: 'password', password };
  const goesOn = await goOn(
    transfer,
    'destination',
    tokenId === undefined ? given : { kind: 'token', tokenId },
    services,
  );
  return goesOn && tokenId !== undefined;
}

type Given = { readonly password?: string | undefined; readonly token_id?: string | undefined };

/**
 * Verifies new credentials for one side of a transfer; `null` if none were given.
 * @throws {Refusal} 401 with the side if they are not valid for that very mailbox, or as {@link Web.proofs} does
 */
export async function provenSecret(
  transfer: Transfer,
  side: Role,
  { password, token_id: tokenId }: Given,
  { proofs, consents }: Pick<Web, 'proofs' | 'consents'>,
  visit: Visit,
): Promise<Secret | null> {
  const { email, provider, imap } = accountOf(transfer, side);
  if (tokenId !== undefined) {
    const isTheirs =
      side === 'destination' &&
      isTokenForm(tokenId) &&
      visit.browser.key !== undefined &&
      (await consents.gave(tokenId, { email, provider }, visit.browser.key));
    if (!isTheirs)
      throw new Refusal(
        401,
        'INVALID_CREDENTIALS',
        `This sign-in is not for ${email}. Please sign in to that mailbox again.`,
        { side },
      );
    return { kind: 'token', tokenId };
  }
  if (password === undefined) return null;
  await proveSide(side, { email, password, provider, ...(imap === undefined ? {} : { imap }) }, proofs, visit);
  return { kind: 'password', password };
}

/**
 * Signs in to one of a transfer's two mailboxes.
 * @throws {Refusal} 401 with the side, or as {@link Web.proofs} does
 */
export async function proveSide(side: Role, claim: Claim, proofs: Web['proofs'], visit: Visit): Promise<void> {
  try {
    await proofs.prove(claim, visit);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'INVALID_CREDENTIALS') throw error;
    throw new Refusal(error.status, error.code, error.message, { side, cause: error });
  }
}

function accountOf(transfer: Transfer, side: Role) {
  return side === 'source'
    ? { email: transfer.sourceEmail, provider: transfer.sourceProvider, imap: undefined }
    : { email: transfer.destinationEmail, provider: transfer.destinationProvider, imap: transfer.destinationImap };
}

/** @param side whose credentials are gone */
export function notGiven(side: Role): Refusal {
  return new Refusal(
    401,
    'INVALID_CREDENTIALS',
    'We no longer have a way to sign in to this mailbox. Please type its password, or sign in to it again.',
    { side },
  );
}
