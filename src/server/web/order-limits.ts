import { likenessOf } from './likeness.ts';
import type { Limits } from './limits.ts';

type Order = {
  /** The address of the source mailbox. */
  readonly mailbox: string;
  /** Where notifications go. */
  readonly contact?: string | undefined;
  /** The network that the order comes from. */
  readonly client: string;
};

/**
 * Counts an order, since each costs the operator disk space, letters and time. It runs in the transaction that stores
 * the order, so that repeating an existing order doesn't count, even if both arrive at once.
 * @throws {Refusal} 429
 */
export async function limitOrder(
  limits: Pick<Limits, 'take' | 'takeAll'>,
  { mailbox, contact, client }: Order,
): Promise<void> {
  const ordering = likenessOf(mailbox);
  await limits.take('transfers of a mailbox', ordering);
  await limits.take('transfers by a client', client);
  if (contact === undefined) return;
  // First the limit that others can't use up: naming a stranger's address over and over must not lock the stranger out.
  const told = likenessOf(contact);
  const ahead = await limits.takeAll([['transfers of a mailbox that tell a contact', `${ordering}\n${told}`]]);
  if (ahead > 0) await limits.take('transfers that tell a contact', told);
}
