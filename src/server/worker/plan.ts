import type { Operation } from '../../contract/operation.ts';

export type StepName =
  | 'copy contacts'
  | 'copy mail'
  | 'set up forwarding'
  | 'finish mail'
  | 'stage contacts'
  | 'stage mail'
  | 'write archive'
  | 'end contacts';

/** A step of an operation (`of`), done after the steps before it, while the operations in `during` are open. */
export type Step = {
  readonly name: StepName;
  readonly of: Operation;
  readonly during: readonly Operation[];
  readonly after: readonly StepName[];
};

/**
 * Contacts beside mail. With forwarding, the existing mail is copied first; then the old mailbox forwards what arrives;
 * then what arrived in between is copied, and both sides are compared.
 */
const MOVE: readonly Step[] = [
  { name: 'copy contacts', of: 'contactsmigration', during: ['contactsmigration'], after: [] },
  { name: 'copy mail', of: 'emailmigration', during: ['emailmigration', 'emailforwarding'], after: [] },
  { name: 'set up forwarding', of: 'emailforwarding', during: ['emailforwarding'], after: ['copy mail'] },
  { name: 'finish mail', of: 'emailmigration', during: ['emailmigration'], after: ['set up forwarding'] },
];

/** One archive holds both. Unreadable contacts don't hold up the mail; contacts without mail make no archive. */
const EXPORT: readonly Step[] = [
  { name: 'stage contacts', of: 'contactsmigration', during: ['contactsmigration'], after: [] },
  { name: 'stage mail', of: 'emailmigration', during: ['emailmigration'], after: [] },
  {
    name: 'write archive',
    of: 'emailmigration',
    during: ['emailmigration'],
    after: ['stage contacts', 'stage mail'],
  },
  { name: 'end contacts', of: 'contactsmigration', during: ['contactsmigration'], after: ['write archive'] },
];

/** The steps of a transfer to this destination. */
export function planOf({ destinationProvider }: { readonly destinationProvider: string }): readonly Step[] {
  return destinationProvider === 'file_export' ? EXPORT : MOVE;
}

/** Seconds until a step is tried again; `Infinity`: when its owner has put something right; `null`: it is done. */
export type Rest = number | null;

/**
 * Follows a plan: does each step as soon as those before it are done. A resting step holds up only the steps after it;
 * all others are done before this returns.
 * @returns the shortest rest
 */
export async function followPlan(steps: readonly Step[], perform: (step: Step) => Promise<Rest>): Promise<Rest> {
  const begun = new Map<StepName, Promise<Rest>>();
  const begin = (step: Step): Promise<Rest> => {
    const existing = begun.get(step.name);
    if (existing !== undefined) return existing;
    const performing = (async () => {
      const rest = shortest(await Promise.all(steps.filter(({ name }) => step.after.includes(name)).map(begin)));
      return rest ?? perform(step);
    })();
    begun.set(step.name, performing);
    return performing;
  };
  const outcomes = await Promise.allSettled(steps.map(begin));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  return shortest(outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : null)));
}

function shortest(rests: readonly Rest[]): Rest {
  const waiting = rests.filter((rest) => rest !== null);
  return waiting.length === 0 ? null : Math.min(...waiting);
}
