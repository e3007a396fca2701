import { MailError } from '../imap/mail-error.ts';
import type { Listed, MailReader } from '../imap/streams.ts';
import { digestOf, secondsOf } from './digest.ts';
import type { LedgerMailbox, NewRow, Row } from './ledger.ts';
import { inParts } from './matching.ts';
import { isWindow } from './provider-limits.ts';
import type { Run } from './run.ts';

/** What the last look at one mailbox of the destination tells. */
export type Compared = {
  readonly lost: number;
  readonly changed: number;
  readonly kept: number;
  /** Equal to a message of ours, of the same date, came since our first append, and is nobody's. */
  readonly duplicated: number;
  /** Rows have UIDs of another UIDVALIDITY than the mailbox has now. */
  readonly isStale: boolean;
};

const TRIES = 3;

/**
 * Holds the ledger's rows of a mailbox against what the destination lists now. A message that had been read back and is
 * not listed any more was taken away by the subscriber; behind the window of a server it is there.
 */
export async function compareMailbox(mailbox: LedgerMailbox, checker: MailReader, run: Run): Promise<Compared> {
  const { ledger, destination } = run.copy;
  const path = mailbox.destinationPath;
  const there = await listDestination(checker, path, mailbox.destination?.uidNext ?? Infinity);
  const counts = { lost: 0, changed: 0, kept: 0, isStale: false };
  const looks = new Map<string, Row[]>();
  const claimed = new Set<number>();
  const taken: NewRow[] = [];
  const newLooks = new Set([...there.newcomers.values()].map(lookOf));
  for await (const page of ledger.rows(mailbox.id))
    for (const row of page) {
      if (row.fate === 'lost') counts.lost += 1;
      if (row.fate === 'changed') counts.changed += 1;
      if (row.fate === 'kept') counts.kept += 1;
      const { destinationUid: uid, destinationUidValidity: uidValidity } = row;
      if (uid === undefined || row.fate === 'taken' || row.fate === 'lost' || row.fate === 'twin') continue;
      if (uidValidity !== there.uidValidity) {
        counts.isStale ||= there.uidValidity !== undefined;
        continue;
      }
      claimed.add(uid);
      const key = `${row.size} ${row.date}`;
      if (newLooks.has(key)) looks.set(key, [...(looks.get(key) ?? []), row]);
      const isBehindWindow = uid < there.lowest && isWindow(there.exists, destination.limits);
      if (there.isWhole && row.verified && !there.uids.has(uid) && !isBehindWindow)
        taken.push({ ...row, mailboxId: mailbox.id, fate: 'taken' });
    }
  if (taken.length > 0) await ledger.settle(taken);
  const { uidValidity } = there;
  if (uidValidity === undefined || mailbox.destination?.uidValidity !== uidValidity || there.newcomers.size === 0)
    return { ...counts, duplicated: 0 };
  const others = await ledger.claimed(path, uidValidity);
  let duplicated = 0;
  const suspects = [...there.newcomers.values()].filter(
    (listed) => !claimed.has(listed.uid) && !others.has(listed.uid) && looks.has(lookOf(listed)),
  );
  const suspectLooks = new Map(suspects.map((listed) => [listed.uid, lookOf(listed)]));
  for (const uids of inParts([...suspectLooks.keys()]))
    for await (const { uid, octets } of checker.fetch(path, uids)) {
      const { sha256 } = await digestOf(octets);
      if (looks.get(suspectLooks.get(uid) ?? '')?.some((row) => row.sha256 === sha256) === true) duplicated += 1;
    }
  return { ...counts, duplicated };
}

type Look = Pick<Listed, 'uid' | 'size' | 'internalDate'>;

type There = {
  /** Missing when the mailbox is. */
  readonly uidValidity: bigint | undefined;
  readonly exists: number;
  readonly uids: ReadonlySet<number>;
  readonly newcomers: ReadonlyMap<number, Look>;
  readonly lowest: number;
  /** It lists as many as it counts. */
  readonly isWhole: boolean;
};

async function listDestination(checker: MailReader, path: string, newFrom: number): Promise<There> {
  const uids = new Set<number>();
  const newcomers = new Map<number, Look>();
  let lowest = Infinity;
  for (let attempt = 1; ; attempt += 1) {
    const { opened: opening, pages } = checker.openAndList(path);
    let opened;
    try {
      opened = await opening;
    } catch (error) {
      if (!(error instanceof MailError) || error.fault !== 'refused') throw error;
      return { uidValidity: undefined, exists: 0, uids, newcomers, lowest, isWhole: false };
    }
    uids.clear();
    newcomers.clear();
    for await (const page of pages)
      for (const { uid, size, internalDate } of page) {
        uids.add(uid);
        lowest = Math.min(lowest, uid);
        if (uid >= newFrom) newcomers.set(uid, { uid, size, internalDate });
      }
    const isWhole = uids.size >= opened.exists;
    const { uidValidity, exists } = opened;
    if (isWhole || attempt === TRIES) return { uidValidity, exists, uids, newcomers, lowest, isWhole };
  }
}

function lookOf({ size, internalDate }: Pick<Listed, 'size' | 'internalDate'>): string {
  return `${size} ${secondsOf(internalDate)}`;
}
