import type { Run } from '../run/run.ts';
import type { Place } from '../troubles/breaks.ts';

/** A source message that is looked for at the destination; its digest is fetched from the source if it is not known. */
export type Wanted = {
  readonly uid: number;
  readonly size: number;
  /** Seconds since the epoch. */
  readonly date: number | null;
  readonly sha256?: string;
};

/** `stored` octet for octet, `kept` by the norm, `changed` by its Message-ID and date only. */
export type Found = {
  readonly fate: 'stored' | 'kept' | 'changed';
  readonly destinationUid: number;
  readonly size: number;
  /** Hex; of the source's octets. Missing if the source has lost the message and the one found has another size. */
  readonly sha256?: string;
  /**
   * Whether the message at the destination was read; otherwise it is not handed out, and is recognised by its size or
   * date only.
   */
  readonly isRead: boolean;
  /** Whether it has the date that was sent with it, as far as that is known. */
  readonly hasDate: boolean;
};

/** Where messages are looked for; `source` is opened, or `null` when it can't be asked. */
export type Sides = { readonly source: Place | null; readonly destination: Place; readonly run: Run };

export type Rules = { readonly areStored: (uid: number) => boolean; readonly areNew: boolean };

/** One search: what is wanted, and what has come of it so far. */
export type Matching = Sides &
  Rules & {
    readonly wanted: readonly Wanted[];
    readonly found: Map<number, Found>;
    readonly gone: Set<number>;
  };

export type Known = { readonly size: number; readonly sha256: string };

/** What listings tell of a message, as a key for comparing. */
export type Likeness = (message: Pick<Wanted, 'size' | 'date'>) => string;
export const bySize: Likeness = ({ size }) => `${size}`;
export const byDateAndSize: Likeness = ({ date, size }) => `${date} ${size}`;
export const byDate: Likeness = ({ date }) => `${date}`;

/** What the destination does not hand out is recognised by its size and date, and read back later. */
export const AS_LISTED = { isAskedAgain: true };

/**
 * Puts first what the destination has confirmed as stored: of equal messages, those are there, and another one must not
 * take the place of one of them.
 */
export function storedFirst<Message extends { readonly uid: number }>(
  messages: readonly Message[],
  areStored: (uid: number) => boolean,
): readonly Message[] {
  return messages.toSorted((one, other) => Number(areStored(other.uid)) - Number(areStored(one.uid)));
}

export function uidsOf(messages: Iterable<{ readonly uid: number }>): number[] {
  return Array.from(messages, ({ uid }) => uid);
}
