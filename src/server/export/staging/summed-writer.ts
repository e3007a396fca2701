import { openSpoolWriter, type SpoolWriter } from '../disk/spool.ts';
import type { ExportThread } from '../thread/export-thread.ts';
import type { Sum } from '../thread/message-sums.ts';

/** Also computes the sums of each message, known once it is on the disk: after `sync` at the latest. */
export type SummedWriter = Omit<SpoolWriter, 'end'> & {
  end(): { readonly size: number; readonly sum: Promise<Sum> };
};

/** A message in the block, or the part of it that is; positions in the segment, in octets. */
type Open = { readonly position: number; begins: boolean };
type Ended = Open & { readonly end: number; readonly sum: PromiseWithResolvers<Sum> };

/** The export thread computes the sums, from the memory that is being written to the disk meanwhile. */
export async function openSummedWriter(folder: string, thread: Pick<ExportThread, 'ask'>): Promise<SummedWriter> {
  let ended: Ended[] = [];
  let open: Open | undefined;
  const writer = await openSpoolWriter(folder, async (octets, at) => {
    const whole = ended;
    const rest = open === undefined ? [] : [{ ...open, end: Infinity }];
    ended = [];
    if (open !== undefined) open.begins = false;
    const spans = [...whole, ...rest].map(({ position, end, begins }) => ({
      from: Math.max(0, position - at),
      to: Math.min(octets.length, end - at),
      begins,
      ends: Number.isFinite(end),
    }));
    if (spans.length === 0) return;
    try {
      const sums = await thread.ask('sum', { segment: writer.segment, octets, spans });
      for (const [index, { sum }] of whole.entries()) sum.resolve(sums[index] as Sum);
    } catch (error) {
      for (const { sum } of whole) sum.reject(error);
      throw error;
    }
  });
  return {
    ...writer,
    begin: () => {
      const place = writer.begin();
      open = { position: place.position, begins: true };
      return place;
    },
    end: () => {
      if (open === undefined) throw new Error('A message ends that has not begun.');
      const { size } = writer.end();
      const sum = Promise.withResolvers<Sum>();
      // The writer gets the error as well.
      sum.promise.catch(() => {});
      ended.push({ ...open, end: open.position + size, sum });
      open = undefined;
      return { size, sum: sum.promise };
    },
    [Symbol.asyncDispose]: async () => {
      await writer[Symbol.asyncDispose]();
      // A thread that has died has nothing open.
      await thread.ask('closeSums', { segment: writer.segment }).catch(() => {});
    },
  };
}
