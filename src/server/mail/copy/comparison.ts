import type { Ledger, LedgerMailbox, StoredMessage } from './ledger.ts';
import type { Measured } from '../../transfers/operations.ts';
import { MailError } from '../imap/mail-error.ts';
import type { ListedMessage, Mailbox, MailReader } from '../imap/message.ts';
import { sameSecond, sha256 } from './recovery.ts';
import type { MailWriter } from '../imap/writer.ts';

const READ_AT_ONCE = 100;

/** Messages of one destination mailbox whose octets are to be read again. */
export type Rereading = {
  readonly path: string;
  readonly expected: ReadonlyMap<number, StoredMessage>;
  /** Not ours by the ledger, but of the size and date of one that is: the digests of those. */
  readonly suspects: ReadonlyMap<number, ReadonlySet<string>>;
};

/** What the two listings of one mailbox tell; the octets come after. */
export type ListedComparison = { readonly measured: Measured; readonly rereadings: readonly Rereading[] };

/**
 * Holds what the ledger says is stored against what the destination lists. A message is `lost` that is not there,
 * or whose UID another message claims as well; `changed` when its size, internal date or flags differ. Flags that are
 * there besides ours don't count: the subscriber may be reading already. Flags that are missing are set once more.
 */
export async function compareListing(
  mailbox: LedgerMailbox,
  ledger: Ledger,
  reader: MailReader,
  writer: MailWriter,
): Promise<ListedComparison> {
  const path = mailbox.destinationPath;
  const { uidValidity } = await reader.open(asMailbox(path));
  const there = new Map<number, ListedMessage>();
  for await (const listed of reader.list(asMailbox(path))) there.set(listed.uid, listed);
  const expected = new Map<number, StoredMessage>();
  let lost = 0;
  const changed = new Set<number>();
  for await (const page of ledger.stored(mailbox.id))
    for (const message of page) {
      const uid = message.destinationUid;
      const found = message.destinationUidValidity === uidValidity ? there.get(uid) : undefined;
      if (found === undefined || expected.has(uid)) {
        lost += 1;
        continue;
      }
      expected.set(uid, message);
      if (!sameSecond(found.internalDate, message.internalDate)) changed.add(uid);
      const missing = missingFlags(message.flags, found.flags);
      if (missing.length > 0) {
        await writer.addFlags(path, uid, missing);
        if (await stillMissing(writer, path, uid, missing)) changed.add(uid);
      }
    }
  const claimed = await ledger.claimed(path, uidValidity);
  const first = mailbox.destination?.uidValidity === uidValidity ? mailbox.destination.uidNext : 1;
  const newcomers = [...there.values()].filter((listed) => listed.uid >= first && !claimed.has(listed.uid));
  return {
    measured: { lost, duplicated: 0, changed: changed.size },
    rereadings: split(path, without(expected, changed), suspectsAmong(newcomers, expected)),
  };
}

/** Reads the octets again and measures what only they tell. */
export async function compareOctets(rereading: Rereading, reader: MailReader): Promise<Measured> {
  const { path, expected, suspects } = rereading;
  const unread = new Set(expected.keys());
  let changed = 0;
  let duplicated = 0;
  for await (const message of reader.fetch(asMailbox(path), [...expected.keys(), ...suspects.keys()])) {
    const digest = sha256(message.bytes);
    const stored = expected.get(message.uid);
    if (stored !== undefined && unread.delete(message.uid) && digest !== stored.sha256) changed += 1;
    if (suspects.get(message.uid)?.has(digest) === true) duplicated += 1;
  }
  if (unread.size > 0) throw new MailError('lost', 'The destination left messages out that it lists.');
  return { lost: 0, duplicated, changed };
}

export function sum(all: readonly Measured[]): Measured {
  return all.reduce(
    (total, each) => ({
      lost: total.lost + each.lost,
      duplicated: total.duplicated + each.duplicated,
      changed: total.changed + each.changed,
    }),
    { lost: 0, duplicated: 0, changed: 0 },
  );
}

/** What two copies of a message have in common in a listing. */
function look({ size, internalDate }: { readonly size: number; readonly internalDate: Date }): string {
  return `${size} ${Math.floor(internalDate.getTime() / 1000)}`;
}

/** Messages that came since the first append, are not claimed, and look like one of ours. */
function suspectsAmong(
  newcomers: readonly ListedMessage[],
  expected: ReadonlyMap<number, StoredMessage>,
): Map<number, Set<string>> {
  const digests = new Map<string, Set<string>>();
  if (newcomers.length > 0)
    for (const message of expected.values()) {
      const key = look(message);
      digests.set(key, (digests.get(key) ?? new Set()).add(message.sha256));
    }
  const suspects = new Map<number, Set<string>>();
  for (const listed of newcomers) {
    const alike = digests.get(look(listed));
    if (alike !== undefined) suspects.set(listed.uid, alike);
  }
  return suspects;
}

function without(expected: ReadonlyMap<number, StoredMessage>, changed: ReadonlySet<number>) {
  return new Map([...expected].filter(([uid]) => !changed.has(uid)));
}

function split(
  path: string,
  expected: ReadonlyMap<number, StoredMessage>,
  suspects: ReadonlyMap<number, ReadonlySet<string>>,
): Rereading[] {
  const uids = [...expected.keys(), ...suspects.keys()].toSorted((a, b) => a - b);
  const rereadings: Rereading[] = [];
  for (let from = 0; from < uids.length; from += READ_AT_ONCE) {
    const part = uids.slice(from, from + READ_AT_ONCE);
    rereadings.push({ path, expected: pick(expected, part), suspects: pick(suspects, part) });
  }
  return rereadings;
}

function pick<Value>(map: ReadonlyMap<number, Value>, keys: readonly number[]): Map<number, Value> {
  return new Map(
    keys.flatMap((key) => {
      const value = map.get(key);
      return value === undefined ? [] : [[key, value] as const];
    }),
  );
}

/** Keywords and system flags differ in case between servers (RFC 9051 §2.3.2). */
function missingFlags(wanted: readonly string[], found: readonly string[]): string[] {
  const there = new Set(found.map((flag) => flag.toLowerCase()));
  return wanted.filter((flag) => !there.has(flag.toLowerCase()));
}

async function stillMissing(writer: MailWriter, path: string, uid: number, flags: readonly string[]): Promise<boolean> {
  for await (const listed of writer.list(path, uid))
    if (listed.uid === uid) return missingFlags(flags, listed.flags).length > 0;
  return true;
}

function asMailbox(path: string): Mailbox {
  return { path, delimiter: '', subscribed: true };
}
