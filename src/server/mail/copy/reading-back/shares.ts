import type { Check, Unchecked } from '../run/run.ts';
import type { Sizes } from '../run/sizes.ts';

/** What one FETCH reads back is not cut into more parts than this. */
const PARTS_AT_MOST = 32;

export function octetsIn(messages: readonly { readonly size: number }[]): number {
  return messages.reduce((sum, { size }) => sum + size, 0);
}

/**
 * Splits what is to be read back into about two parts for each connection, so that all are done at about the same time.
 */
export function sharesOf(
  waiting: readonly Check[],
  connections: number,
  { readBack: { octets: atOnce } }: Sizes,
): readonly Check[] {
  const all = waiting.reduce((sum, { messages }) => sum + octetsIn(messages), 0);
  const most = Math.max(atOnce / PARTS_AT_MOST, Math.ceil(all / (2 * connections)));
  return waiting.flatMap(({ messages, ...check }) => {
    const parts: Unchecked[][] = [[]];
    let octets = 0;
    for (const message of messages) {
      const isFull = octets > 0 && octets + message.size > most;
      if (isFull) parts.push([]);
      octets = (isFull ? 0 : octets) + message.size;
      parts.at(-1)?.push(message);
    }
    return parts.map((part) => ({ ...check, messages: part }));
  });
}
