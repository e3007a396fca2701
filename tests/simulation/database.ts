import type { Chance } from './chance.ts';
import type { SimulatedProcess } from './process.ts';
import type { Scheduler } from './scheduler.ts';

/** What is wrong with the database: from its n-th question on, for some milliseconds. */
export type DatabaseFault =
  | { readonly kind: 'gone'; readonly atQuestion: number; readonly milliseconds: number }
  | { readonly kind: 'slow'; readonly atQuestion: number; readonly milliseconds: number; readonly delay: number };

/** What a driver throws when the server can't be reached, or hung up; whether a write was done is then not known. */
export class DatabaseGone extends Error {
  override name = 'DatabaseGone';
  readonly code = '08006';
}

export type SimulatedDatabase = {
  /** Does something at the database, all of it or nothing, in the name of a process. */
  readonly ask: <Answer>(process: SimulatedProcess, label: string, work: () => Answer) => Promise<Answer>;
  readonly questions: () => number;
};

export function openDatabase(
  scheduler: Scheduler,
  chance: Chance,
  faults: readonly DatabaseFault[] = [],
): SimulatedDatabase {
  let questions = 0;
  let goneUntil = 0;
  let slowUntil = 0;
  let slowness = 0;
  const travel = () => 0.2 + chance.skewed(2) + (scheduler.now() < slowUntil ? chance.fraction() * slowness : 0);
  return {
    questions: () => questions,
    ask: <Answer>(process: SimulatedProcess, label: string, work: () => Answer) =>
      new Promise<Answer>((resolve, reject) => {
        process.effect(`asks the database: ${label}`, () => {
          questions += 1;
          for (const fault of faults)
            if (fault.atQuestion === questions) {
              scheduler.note(`the database is ${fault.kind} for ${fault.milliseconds}`);
              if (fault.kind === 'gone') goneUntil = scheduler.now() + fault.milliseconds;
              else {
                slowUntil = scheduler.now() + fault.milliseconds;
                slowness = fault.delay;
              }
            }
          const fail = () => process.deliver(() => reject(new DatabaseGone('The database is gone.')));
          scheduler.after(travel(), `the database gets ${process.name}'s ${label}`, () => {
            if (scheduler.now() < goneUntil) {
              fail();
              return;
            }
            let outcome: { readonly answer: Answer } | { readonly error: Error };
            try {
              outcome = { answer: work() };
            } catch (error) {
              outcome = { error: error instanceof Error ? error : new Error(String(error)) };
            }
            scheduler.after(travel(), `the database answers ${process.name}'s ${label}`, () => {
              if (scheduler.now() < goneUntil) fail();
              else
                process.deliver(() => {
                  if ('error' in outcome) reject(outcome.error);
                  else resolve(outcome.answer);
                });
            });
          });
        });
      }),
  };
}
