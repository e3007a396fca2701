import type { Limits } from './limits.ts';

type Order = {
  /** The address that mail is taken from. */
  readonly mailbox: string;
  /** Who is told of it. */
  readonly contact?: string | undefined;
  /** The network that orders. */
  readonly client: string;
};

/**
 * Counts an order: each costs the operator disk, letters and time. Within the transaction that stores it, so that one
 * which is there already, and is only answered again, counts for nothing, even when it comes twice at once.
 * @throws {Refusal} 429
 */
export async function limitOrder(
  limits: Pick<Limits, 'take' | 'takeAll'>,
  { mailbox, contact, client }: Order,
): Promise<void> {
  await limits.take('transfers of a mailbox', mailbox);
  await limits.take('transfers by a client', client);
  if (contact === undefined) return;
  // First what others can't use up: who names a stranger's address again and again must not keep them from it.
  const ahead = await limits.takeAll([['transfers of a mailbox that tell a contact', `${mailbox}\n${contact}`]]);
  if (ahead > 0) await limits.take('transfers that tell a contact', contact);
}
