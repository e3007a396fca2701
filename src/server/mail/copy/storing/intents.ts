import type { Group, Planned } from '../ledger/ledger.ts';
import type { Sending } from './settling.ts';

/** The intents of this many groups are committed together, when only so many of the previous ones are left. */
const GROUPS_AHEAD = 8;
const GROUPS_LEFT = 2;

/** The intents of groups, committed several at a time before the octets are sent. */
export type Intents = {
  /** The group at this index, to be asked for in order; its intent is committed. */
  take(index: number): Promise<Group>;
  /** To be called after each {@link Intents.take}: begins to commit the next ones when few are left. */
  openAhead(index: number): void;
  /** Resolves when none is being committed any more. */
  ended(): Promise<unknown>;
};

export function openIntents(groups: readonly (readonly Planned[])[], { mailbox, selected, run }: Sending): Intents {
  const { ledger, onStep } = run.copy;
  const facts = { mailboxId: mailbox.id, uidValidity: selected.uidValidity, uidNext: selected.uidNext ?? 1 };
  const opened: Group[] = [];
  const open = async (from: number) => {
    const part = groups.slice(from, from + GROUPS_AHEAD);
    if (part.length === 0) return;
    opened.push(...(await ledger.open(part.map((messages) => ({ ...facts, messages })))));
    await onStep('intent committed', mailbox.sourcePath);
  };
  let opening: Promise<void> = Promise.resolve();
  const openFrom = (from: number) => {
    opening = open(from);
    opening.catch(() => {});
  };
  openFrom(0);
  return {
    take: async (index) => {
      if (index % GROUPS_AHEAD === 0) await opening;
      const group = opened.shift();
      if (group === undefined) throw new Error('The ledger did not open a group.');
      return group;
    },
    openAhead: (index) => {
      if (index % GROUPS_AHEAD === GROUPS_AHEAD - GROUPS_LEFT) openFrom(index + GROUPS_LEFT);
    },
    ended: () => Promise.allSettled([opening]),
  };
}
