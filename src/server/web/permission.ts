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
