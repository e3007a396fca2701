import type { Fetched } from '../../mail/imap/streams.ts';
import type { Sum } from '../thread/message-sums.ts';
import { openHeaderCollector } from './header-collector.ts';
import type { MailFormat } from './mail-format.ts';
import type { StagedMessage } from './staged.ts';
import type { SummedWriter } from './summed-writer.ts';

/** A message that has arrived completely; it gets a number once it is known not to have an older one. */
export type Arrived = Omit<StagedMessage, 'number' | 'label' | keyof Sum> & {
  readonly sum: Promise<Sum>;
  readonly label: (number: number) => string;
};

/** The times that an archive, a database and an ISO string can all represent. */
const [EARLIEST, LATEST] = [new Date('0001-01-01T00:00:00Z'), new Date('9999-12-31T23:59:59Z')];

/**
 * Writes a message to the disk.
 * @throws what breaks off its octets
 */
export async function arrive(
  message: Fetched,
  writer: SummedWriter,
  format: Pick<MailFormat, 'label' | 'openLineEnds'>,
): Promise<Arrived> {
  const lineEnds = format.openLineEnds?.();
  const keep = openHeaderCollector();
  const place = writer.begin();
  for await (const chunk of message.octets) {
    lineEnds?.take(chunk);
    keep.take(chunk);
    // Most chunks only fill a block in memory.
    if (!writer.append(chunk)) await writer.drained();
  }
  const internalDate = storedDate(message.internalDate);
  const header = keep.octets();
  return {
    uid: message.uid,
    flags: message.flags,
    internalDate,
    lineEnds: lineEnds?.end() ?? 'kept',
    label: (number) => format.label({ header, internalDate }, number),
    ...place,
    ...writer.end(),
  };
}

/** The date that is recorded for a message. */
export function storedDate(date: Date): Date {
  if (Number.isNaN(date.getTime())) return new Date(0);
  if (date < EARLIEST) return EARLIEST;
  return date > LATEST ? LATEST : date;
}
