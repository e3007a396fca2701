import type { ExportThread } from '../thread/export-thread.ts';
import { openSummedWriter, type SummedWriter } from './summed-writer.ts';

/**
 * The segments being written to: one for each concurrent writer, passed on to the next writer afterwards. `rotate`
 * begins new ones; an old one stays `live` until its writer is done and has recorded what is in it.
 */
export type Segments = AsyncDisposable & {
  use<Result>(work: (writer: SummedWriter) => Promise<Result>): Promise<Result>;
  rotate(): Promise<void>;
  live(): ReadonlySet<string>;
};

export function openSegments(folder: string, thread: Pick<ExportThread, 'ask'>): Segments {
  const live = new Set<SummedWriter>();
  let free: SummedWriter[] = [];
  let turn = 0;
  const close = async (writer: SummedWriter) => {
    live.delete(writer);
    await writer[Symbol.asyncDispose]();
  };
  const begin = async () => {
    const writer = await openSummedWriter(folder, thread);
    live.add(writer);
    return writer;
  };
  const rotate = async () => {
    turn += 1;
    const retiring = free;
    free = [];
    for (const writer of retiring) await close(writer);
  };
  return {
    use: async (work) => {
      const taken = turn;
      const writer = free.pop() ?? (await begin());
      try {
        return await work(writer);
      } finally {
        if (turn === taken) free.push(writer);
        else await close(writer);
      }
    },
    rotate,
    live: () => new Set([...live].map(({ segment }) => segment)),
    [Symbol.asyncDispose]: rotate,
  };
}
