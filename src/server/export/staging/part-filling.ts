import type { ExportLimits } from './export-limits.ts';
import type { MailFormat } from './mail-format.ts';
import type { Segments } from './segments.ts';

export type Parts = {
  readonly format: Pick<MailFormat, 'partMessages'>;
  readonly limits: Pick<ExportLimits, 'partMessages' | 'partOctets'>;
  readonly segments: Pick<Segments, 'rotate'>;
  /** Closes the part that is staged and writes it; meanwhile, messages may be staged for the next part. */
  readonly onPartFull: () => Promise<void>;
};

/** What is going to be staged: octets and messages. */
type Amount = { readonly octets: number; readonly messages: number };

/**
 * Counts what is staged towards the part being gathered, or towards the next one if it does not fit. If a part can't be
 * written, nobody continues; everyone waiting gets the error.
 * @param gathered what the part holds already
 * @returns a function that begins something; call the function that it resolves with once that has ended
 */
export function openPartFilling(parts: Parts, gathered: Amount): (some: Amount) => Promise<() => void> {
  let { octets, messages } = gathered;
  const underWay = new Set<Promise<void>>();
  const most = Math.min(parts.limits.partMessages, parts.format.partMessages);
  const countIn = async (some: Amount, before: Promise<unknown>) => {
    await before;
    const fits = octets + some.octets <= parts.limits.partOctets && messages + some.messages <= most;
    if (messages > 0 && !fits) {
      // What is still under way belongs to the part that is full.
      await Promise.all(underWay);
      await parts.segments.rotate();
      await parts.onPartFull();
      [octets, messages] = [0, 0];
    }
    octets += some.octets;
    messages += some.messages;
    const { promise, resolve } = Promise.withResolvers<void>();
    underWay.add(promise);
    return () => {
      underWay.delete(promise);
      resolve();
    };
  };
  let last: Promise<unknown> = Promise.resolve();
  return (some) => {
    const counted = countIn(some, last);
    last = counted;
    return counted;
  };
}
