import type { PgBoss } from 'pg-boss';
import { handled } from './job-failed.ts';
import { type openTurns, TRANSFERS, TURN_MS } from './turns.ts';

/** `failures`: consecutive failures outside of a step (within steps, faults are waited for); `fault`: the last one. */
export type TransferJob = { readonly transferId: string; readonly failures?: number; readonly fault?: string };

const LOOK_FOR_TRANSFERS_SECONDS = 0.5;

/** How a job broke off: its turn was over, or else by the error, after so many milliseconds. */
export type BrokenOff = { readonly error: unknown; readonly isTurnOver: boolean; readonly lasted: number };

type Options = {
  readonly boss: PgBoss;
  readonly turns: ReturnType<typeof openTurns>;
  /** Decides what becomes of a job that broke off. */
  readonly settle: (queue: string, job: TransferJob, brokenOff: BrokenOff) => Promise<void>;
};

/** The workers of this process, which are notified of its own orders and need not find them by polling. */
export function openTakers({ boss, turns, settle }: Options): {
  /** Notifies the workers of a queue. */
  wake(queue: string): void;
  /** Takes jobs until it is disposed of, which waits for those under way. */
  workOn(
    queue: keyof typeof TURN_MS,
    atOnce: number,
    run: (transferId: string, signal: AbortSignal) => Promise<void>,
  ): Promise<AsyncDisposable>;
} {
  const takers = new Map<string, string[]>();
  return {
    wake: (queue) => {
      for (const id of takers.get(queue) ?? []) boss.notifyWorker(id);
    },
    workOn: async (queue, atOnce, run) => {
      const options = { batchSize: 1, pollingIntervalSeconds: LOOK_FOR_TRANSFERS_SECONDS };
      const watched = queue === TRANSFERS ? turns.watchSlow(atOnce) : turns.watchTakeBack;
      const take = async (): Promise<string> => {
        const taker = await boss.work<TransferJob>(queue, options, async (jobs) => {
          for (const { data, signal } of jobs) {
            const begun = performance.now();
            const turn = new AbortController();
            const timer = setTimeout(() => turn.abort(), TURN_MS[queue]).unref();
            using _watched = watched(data.transferId, turn);
            await handled(
              () => run(data.transferId, AbortSignal.any([signal, turn.signal])),
              (error) =>
                settle(queue, data, { error, isTurnOver: turn.signal.aborted, lasted: performance.now() - begun }),
            ).finally(() => clearTimeout(timer));
          }
          // Looks for the next job at once: many mailboxes take less time than the polling interval.
          boss.notifyWorker(taker);
        });
        return taker;
      };
      takers.set(queue, await Promise.all(Array.from({ length: atOnce }, take)));
      return { [Symbol.asyncDispose]: () => boss.offWork(queue) };
    },
  };
}
