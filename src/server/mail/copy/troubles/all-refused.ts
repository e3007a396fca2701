import type { Ledger } from '../ledger/ledger.ts';

/** If fewer were refused, each may have been refused for a reason of its own. */
const FROM_MESSAGES = 3;

/**
 * Whether the destination has taken no message at all, through no fault of the messages. Then they all wait again,
 * until it takes them.
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
