import type { Ledger } from '../ledger/ledger.ts';

/** If fewer were refused, each may have been refused for a reason of its own. */
const FROM_MESSAGES = 3;

/**
 * Whether the destination has refused every message, so that the messages can't be the cause. Then the rows are
 * forgotten, and all messages wait again.
 */
export async function forgetIfAllRefused(ledger: Pick<Ledger, 'mailboxes' | 'rows' | 'forget'>): Promise<boolean> {
  const refused = new Map<number, number[]>();
  let count = 0;
  for (const { id } of await ledger.mailboxes())
    for await (const page of ledger.rows(id))
      for (const { uid, fate, reason } of page) {
        if (fate === 'gone') continue;
        if (fate !== 'refused' || reason !== 'not accepted') return false;
        const uids = refused.get(id) ?? [];
        uids.push(uid);
        refused.set(id, uids);
        count += 1;
      }
  if (count < FROM_MESSAGES) return false;
  for (const [id, uids] of refused) await ledger.forget(id, uids);
  return true;
}
