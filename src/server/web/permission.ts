import { statusAddress } from '../../contract/page-address.ts';
import { Refusal } from './refusal.ts';
import type { Web } from './services.ts';
import type { Visit } from './visit.ts';

type Guard = Pick<Web, 'owners' | 'sessions'>;
type Asker = Pick<Visit, 'bearer' | 'browser'>;

/**
 * Whether who asks may see everything of a transfer, have its files and change what becomes of it (`decisions.md`, "Who
 * may do what"): the browser that ordered it, or one that has signed in to the source's mailbox, by bearer or cookie.
 * `null` when there is no such transfer.
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
 * Whether who asks has shown that a mailbox is theirs: by a sign-in to it within a day, or because they may manage the
 * transfer that they name, which reads it.
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
 * A browser that has followed a link is led to the transfer's page, which asks its owner to sign in.
 * @throws {Refusal} 404 for no transfer, 401 for who may not manage it
 */
export async function requireManager(guard: Guard, asker: Asker, transferId: string): Promise<void> {
  const may = await mayManage(guard, asker, transferId);
  const page = statusAddress(transferId);
  if (may === null) throw new Refusal(404, 'MIGRATION_ID_NOT_FOUND', 'Your transfer ID has not been found.', { page });
  if (!may)
    throw new Refusal(401, 'INVALID_TOKEN', 'Please sign in first, so that we know the transfer is yours.', { page });
}
