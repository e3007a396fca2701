import { wordsFor } from '../mail/copy/reasons.ts';
import type { Sql } from '../store/database.ts';

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

/** One line of a receipt. `date` is ISO 8601, `size` octets, `sha256` hex of the source's octets; empty where there is none. */
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

const PAGE = 2000;

/** All messages and contacts of a transfer, a page at a time. */
export async function* itemsOf(sql: Sql, transferId: string): AsyncIterable<Item> {
  yield* messagesOf(sql, transferId);
  yield* contactsOf(sql, transferId);
}

async function* messagesOf(sql: Sql, transferId: string): AsyncIterable<Item> {
  let after = { mailbox: 0, uid: 0 };
  for (;;) {
    const rows = await sql.query<{
      mailbox: number;
      uid: number;
      folder: string;
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
      `select l.mailbox_id::float8 as mailbox, l.uid::float8 as uid, m.source_path as folder,
         l.internal_date::float8 as date, l.subject, l.size::float8 as size, encode(l.sha256, 'hex') as sha256,
         l.fate, l.earlier, l.removal, l.reason, l.verified
       from ledger l join ledger_mailboxes m on m.id = l.mailbox_id
       where m.transfer_id = $1 and (l.mailbox_id, l.uid) > ($2, $3) order by l.mailbox_id, l.uid limit ${PAGE}`,
      [transferId, after.mailbox, after.uid],
    );
    for (const row of rows) {
      const fate = messageFate(row);
      yield {
        kind: 'message',
        folder: row.folder,
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
    after = last;
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
  if (earlier || fate === 'twin') return 'present';
  return fate === 'stored' ? 'copied' : (fate as ItemFate);
}

function noteOf({ reason, verified }: { reason: string | null; verified: boolean }, fate: ItemFate): string {
  if (reason !== null) return wordsFor(reason);
  const isThere = fate === 'copied' || fate === 'kept';
  return isThere && !verified ? 'We did not read it back to compare it.' : '';
}

async function* contactsOf(sql: Sql, transferId: string): AsyncIterable<Item> {
  let after = '';
  for (;;) {
    const rows = await sql.query<{ uid: string; name: string; fate: ItemFate; remarks: string[] }>(
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
