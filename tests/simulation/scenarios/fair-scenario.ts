import { PLAIN, type Scenario } from '../scenario.ts';
import { simulate } from '../simulate.ts';

/** What the seeds do not make: folders as large as is said, and fair weather but for what is said. */
export function scenarioWith(letters: readonly number[], given: Partial<Scenario>): Scenario {
  return {
    ...PLAIN,
    folders: letters.map((count, at) => ({ name: at === 0 ? 'INBOX' : `Box ${at}`, letters: count })),
    ...given,
  };
}

/** With deaths of its workers, one after the other, each at a part of all that it would do. */
export async function dyingAt(parts: readonly number[], scenario: Scenario): Promise<Scenario> {
  const stops = [...scenario.stops];
  for (const [at, part] of parts.entries()) {
    const { trace } = await simulate({ ...scenario, stops }, { keepsTrace: true });
    const effect = new RegExp(`^[\\d.]+ worker${at + 1} \\d+ `);
    const effects = trace.filter((line) => effect.test(line)).length;
    stops.push({ worker: at + 1, atEffect: Math.ceil(part * effects) });
  }
  return { ...scenario, stops };
}

/** How the receipts end: what could not be done, and how many folders were left. */
export function endsOf({ wrong, receipts }: Awaited<ReturnType<typeof simulate>>) {
  return { wrong, ends: receipts.map(({ failure, mailboxesLeft }) => ({ failure, mailboxesLeft })) };
}

/** A destination that says no UIDs and keeps messages in a form of its own. */
export const REWRITING = { uidPlus: false, rewriting: 'adds headers' } as const;
