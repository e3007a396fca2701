import type { NewRow } from '../ledger/ledger.ts';
import type { MailCopy } from './mail-copy.ts';
import type { FolderCount } from './run.ts';

/** The sum of what all folders count; reports each change. */
export type Counts = {
  readonly set: (path: string, count: FolderCount) => void;
  /** Adds rows of messages that had none. */
  readonly add: (path: string, rows: readonly NewRow[]) => void;
  /** The same for messages that are at the destination already: to find them says nothing about the pace of a copy. */
  readonly addFound: (path: string, rows: readonly NewRow[]) => void;
  /** Rows that were `stored` and are something else now. */
  readonly refate: (path: string, rows: readonly NewRow[]) => void;
  /** Something was looked at, or given up, and nothing moved. */
  readonly looked: () => void;
  /** Grows with each message that is moved or found, and with each call of `looked`. */
  readonly moved: () => number;
};

/**
 * @param room octets that may still pass today: if more are left, the copy will have to wait, and there is no estimate
 */
export function openCounts({ onProgress }: Pick<MailCopy, 'onProgress'>, room: () => number): Counts {
  const folders = new Map<string, FolderCount>();
  let moved = 0;
  let movedOctets = 0;
  let refused = 0;
  let looked = 0;
  const tell = () => {
    const sum = { done: 0, total: 0, bytes: 0, kept: 0 };
    let octets: number | null = 0;
    for (const { done, total, bytes, kept, octetsLeft } of folders.values()) {
      sum.done += done;
      sum.total += total;
      sum.bytes += bytes;
      sum.kept += kept;
      octets = octets === null || octetsLeft === null ? null : octets + octetsLeft;
    }
    const left = octets === null || octets > room() ? null : { messages: sum.total - sum.done, octets };
    onProgress({ ...sum, moved: { messages: moved, octets: movedOctets, refused }, left });
  };
  const settle = (path: string, rows: readonly NewRow[]) => {
    const count = folders.get(path);
    if (count === undefined) return;
    for (const { fate, size, earlier = false } of rows) {
      count.done += 1;
      if (count.octetsLeft !== null) count.octetsLeft = Math.max(0, count.octetsLeft - size);
      if (fate === 'kept') count.kept += 1;
      if (!earlier && (fate === 'stored' || fate === 'kept' || fate === 'changed')) count.bytes += size;
    }
    count.total = Math.max(count.total, count.done);
    tell();
  };
  return {
    set: (path, count) => {
      folders.set(path, { ...count });
      tell();
    },
    add: (path, rows) => {
      moved += rows.length;
      for (const { fate, size } of rows) {
        movedOctets += size;
        if (fate === 'refused') refused += 1;
      }
      settle(path, rows);
    },
    addFound: (path, rows) => {
      looked += rows.length;
      settle(path, rows);
    },
    refate: (path, rows) => {
      const count = folders.get(path);
      if (count !== undefined) count.kept += rows.filter((row) => row.fate === 'kept').length;
      tell();
    },
    looked: () => {
      looked += 1;
    },
    moved: () => moved + looked,
  };
}
