import { statusAddress } from '../../contract/page-address.ts';
import { Refusal, sessionOver } from './refusal.ts';
import type { Web } from './services.ts';
import type { Visit } from './visit.ts';

type Guard = Pick<Web, 'owners' | 'sessions'>;
type Asker = Pick<Visit, 'bearer' | 'browser'>;

/**
 * Whether the caller may see everything about a transfer, get its files and control it (`decisions.md`, "Who may do
 * what"): the browser that ordered it may, and so may one that has signed in to the source mailbox, by bearer token or
 * cookie. `null` if there is no such transfer.
 */
export async function mayManage(
  { owners, sessions }: Guard,
  asker: Asker,
  transferId: string,
): Promise<boolean | null> {
  const mailbox = await owners.mailboxOf(transferId);
  if (mailbox === null) return null;
  const { bearer, browser } = asker;
  return (
    (browser.key !== undefined &&
      ((await owners.has(transferId, browser.key)) || (await sessions.isOfBrowser(browser.key, mailbox)))) ||
    (bearer !== undefined && (await sessions.isOf(bearer, mailbox)))
  );
}

/**
 * Whether the caller has proved that a mailbox is theirs: by signing in to it within the last day, or because they may
 * manage the transfer `transferId`, which reads from it.
 */
export async function hasProven(
  guard: Guard,
  asker: Asker,
  { mailbox, transferId }: { readonly mailbox: string; readonly transferId?: string | undefined },
): Promise<boolean> {
  const { bearer, browser } = asker;
  if (bearer !== undefined && (await guard.sessions.isOf(bearer, mailbox))) return true;
  if (browser.key !== undefined && (await guard.sessions.isOfBrowser(browser.key, mailbox))) return true;
  if (transferId === undefined || (await guard.owners.mailboxOf(transferId)) !== mailbox) return false;
  return (await mayManage(guard, asker, transferId)) === true;
}

/**
 * Browsers that have followed a link are redirected to the transfer's page, where its owner can sign in.
 * @throws {Refusal} 404 if there is no such transfer, 401 if the caller may not manage it
 */
export async function requireManager(guard: Guard, asker: Asker, transferId: string): Promise<void> {
  const may = await mayManage(guard, asker, transferId);
  const page = statusAddress(transferId);
  if (may === null) throw new Refusal(404, 'MIGRATION_ID_NOT_FOUND', 'Your transfer ID has not been found.', { page });
  if (!may)
    throw new Refusal(401, 'INVALID_TOKEN', 'Please sign in first, so that we know the transfer is yours.', { page });
}

/**
 * To be asked once the password is proved: a page that was left open where the mailbox was signed out of everywhere still
 * has it.
 * @throws {Refusal} 401
 */
export async function requireNoSignOut(
  { sessions }: Pick<Web, 'sessions'>,
  { bearer }: Pick<Visit, 'bearer'>,
  mailbox: string,
): Promise<void> {
  if (bearer !== undefined && (await sessions.wasEndedEverywhere(bearer, mailbox))) throw sessionOver();
}
