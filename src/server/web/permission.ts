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

/** @throws {Refusal} 404 for no transfer, 401 for who may not manage it */
export async function requireManager(guard: Guard, asker: Asker, transferId: string): Promise<void> {
  const may = await mayManage(guard, asker, transferId);
  if (may === null) throw new Refusal(404, 'MIGRATION_ID_NOT_FOUND', 'Your transfer ID has not been found.');
  if (!may) throw new Refusal(401, 'INVALID_TOKEN', 'Please sign in first, so that we know the transfer is yours.');
}
