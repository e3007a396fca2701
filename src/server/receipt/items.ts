import { wordsFor } from '../mail/copy/ledger/reasons.ts';
import type { Database } from '../store/database.ts';
import { pageByIndex } from '../store/page-by-index.ts';

/**
 * What became of a message or a contact:
 * - `copied`; `kept`: there, in the provider's own form; `present`: it was there, from an earlier transfer or of itself;
 *   `completed`: a contact that was there and got what it lacked;
 * - `taken back`: removed again at its owner's wish; `moved`: moved or deleted in the new mailbox by its owner;
 * - `changed`, `lost`, `refused`, `gone` (deleted at the source before it was read).
 */
export type ItemFate =
  | 'copied'
  | 'kept'
  | 'present'
  | 'completed'
  | 'taken back'
  | 'moved'
  | 'changed'
  | 'lost'
  | 'refused'
  | 'gone';

/**
 * One line of a receipt. `date` is ISO 8601, `size` octets, `sha256` hex of the source's octets; empty where there is
 * none.
 */
export type Item = {
  readonly kind: 'message' | 'contact';
  readonly folder: string;
  readonly date: string;
  readonly subject: string;
  readonly size: number | null;
  readonly sha256: string;
  readonly fate: ItemFate;
  readonly note: string;
};

/** Of a database, what reads it. */
export type Reading = Pick<Database, 'query' | 'commit'>;

const PAGE = 2000;

/** All messages and contacts of a transfer, a page at a time. */
export async function* itemsOf(database: Reading, transferId: string): AsyncIterable<Item> {
  yield* messagesOf(database, transferId);
  yield* contactsOf(database, transferId);
}

async function* messagesOf(database: Reading, transferId: string): AsyncIterable<Item> {
  const mailboxes = await database.query<{ id: number; folder: string }>(
    'select id::float8 as id, source_path as folder from ledger_mailboxes where transfer_id = $1 order by id',
    [transferId],
  );
  for (const { id, folder } of mailboxes) yield* messagesIn(database, id, folder);
}

/** By the ledger's index: a query over all mailboxes would read and sort a large one anew for each page. */
async function* messagesIn(database: Reading, mailboxId: number, folder: string): AsyncIterable<Item> {
  for (let after = 0; ;) {
    const rows = await pageByIndex<{
      uid: number;
      date: number | null;
      subject: string | null;
      size: number;
      sha256: string | null;
      fate: string;
      earlier: boolean;
      removal: string | null;
      reason: string | null;
      verified: boolean;
    }>(
      database,
      `select uid::float8 as uid, internal_date::float8 as date, subject, size::float8 as size,
         encode(sha256, 'hex') as sha256, fate, earlier, removal, reason, verified
       from ledger where mailbox_id = $1 and ledger.uid > $2 order by ledger.uid limit ${PAGE}`,
      [mailboxId, after],
    );
    for (const row of rows) {
      const fate = messageFate(row);
      yield {
        kind: 'message',
        folder,
        date: row.date === null ? '' : isoOf(row.date),
        subject: row.subject ?? '',
        size: row.size,
        sha256: row.sha256 ?? '',
        fate,
        note: noteOf(row, fate),
      };
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    after = last.uid;
  }
}

/** Some servers have dates that a calendar does not hold. */
function isoOf(seconds: number): string {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
}

function messageFate({ fate, earlier, removal }: { fate: string; earlier: boolean; removal: string | null }): ItemFate {
  if (removal === 'removed') return 'taken back';
  if (fate === 'taken') return 'moved';
  // Also what an earlier transfer had stored and did not find so: this one counts it.
  if (fate === 'lost' || fate === 'changed') return fate;
  if (earlier || fate === 'twin') return 'present';
  return fate === 'stored' ? 'copied' : (fate as ItemFate);
}

function noteOf({ reason, verified }: { reason: string | null; verified: boolean }, fate: ItemFate): string {
  if (reason !== null) return wordsFor(reason);
  const isThere = fate === 'copied' || fate === 'kept';
  return isThere && !verified ? 'We did not read it back to compare it.' : '';
}

async function* contactsOf(database: Reading, transferId: string): AsyncIterable<Item> {
  let after = '';
  for (;;) {
    const rows = await pageByIndex<{ uid: string; name: string; fate: ItemFate; remarks: string[] }>(
      database,
      `select uid, name, fate, remarks from contact_fates
       where transfer_id = $1 and fate not in ('intent', 'group') and uid > $2 order by uid limit ${PAGE}`,
      [transferId, after],
    );
    for (const { name, fate, remarks } of rows)
      yield {
        kind: 'contact',
        folder: '',
        date: '',
        subject: name,
        size: null,
        sha256: '',
        fate,
        note: remarks.join(' '),
      };
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    after = last.uid;
  }
}
