import { BLANK_CONTACT, type Contact } from '../../contacts/contact.ts';
import { isHeld, LeaseLost } from '../../transfers/lease.ts';
import type { Fenced } from './fenced.ts';

/** How many contacts, and how many octets of them, are read together: some have photos of megabytes. */
const [PAGE, PAGE_OCTETS] = [100, 4 * 1024 * 1024];

/** The contacts of an export, until its last part is written. */
export type StagedContacts = {
  /** Replaces what an interrupted run left. */
  clear(): Promise<void>;
  /** Replaces the one that had this number. */
  put(number: number, contact: Contact): Promise<void>;
  count(): Promise<number>;
  contacts(): AsyncIterable<Contact>;
  /** A card that is not a contact: a group, or one that could not be read. */
  putCard(kind: CardKind, number: number, card: string): Promise<void>;
  countCards(kind: CardKind): Promise<number>;
  /** @param number from 1 */
  card(kind: CardKind, number: number): Promise<string>;
};

export type CardKind = 'group' | 'unreadable';

type Row = { number: number; contact: string; photo_type: string | null; photo: Uint8Array | null };

export function openStagedContacts(database: Fenced, exportId: number): StagedContacts {
  const { transferId, epoch } = database.lease;
  /**
   * Inserts in one round trip, as there are many.
   * @param columns of `table`, as many as values
   * @param orElse what to do on a conflict
   */
  const insert = async (table: string, columns: string, values: readonly unknown[], orElse = '') => {
    const places = values.map((_, at) => `$${at + 3}`).join(', ');
    const rows = await database.query(
      `insert into ${table} (${columns}) select ${places} from transfers where ${isHeld()} for share
       ${orElse} returning 1`,
      [transferId, epoch, ...values],
    );
    if (rows.length === 0) throw new LeaseLost(transferId);
  };
  return {
    clear: () =>
      database.write(async (sql) => {
        await sql.query('delete from export_contacts where export_id = $1', [exportId]);
        await sql.query('delete from export_cards where export_id = $1', [exportId]);
      }),
    putCard: (kind, number, card) =>
      insert('export_cards', 'export_id, kind, number, card', [exportId, kind, number, JSON.stringify(card)]),
    countCards: async (kind) => {
      const [row] = await database.query<{ count: number }>(
        'select count(*)::float8 as count from export_cards where export_id = $1 and kind = $2',
        [exportId, kind],
      );
      return row?.count ?? 0;
    },
    card: async (kind, number) => {
      const [row] = await database.query<{ card: string }>(
        'select card from export_cards where export_id = $1 and kind = $2 and number = $3',
        [exportId, kind, number],
      );
      return row === undefined ? '' : (JSON.parse(row.card) as string);
    },
    put: (number, { photo, ...contact }) =>
      insert(
        'export_contacts',
        'export_id, number, contact, photo_type, photo',
        [
          exportId,
          number,
          JSON.stringify(contact),
          photo?.mediaType ?? null,
          photo === undefined ? null : Buffer.from(photo.bytes),
        ],
        `on conflict (export_id, number) do update
         set contact = excluded.contact, photo_type = excluded.photo_type, photo = excluded.photo`,
      ),
    count: async () => {
      const [row] = await database.query<{ count: number }>(
        'select count(*)::float8 as count from export_contacts where export_id = $1',
        [exportId],
      );
      return row?.count ?? 0;
    },
    async *contacts() {
      let after = 0;
      for (;;) {
        const page = await database.query<Row>(
          `select number, contact, photo_type, photo from (
             select *, row_number() over page as place,
               sum(octet_length(contact) + coalesce(octet_length(photo), 0)) over page as octets
             from (select * from export_contacts where export_id = $1 and number > $2 order by number limit ${PAGE}) as next
             window page as (order by number)) as counted
           where place = 1 or octets <= ${PAGE_OCTETS} order by number`,
          [exportId, after],
        );
        for (const row of page) yield contactOf(row);
        const last = page.at(-1);
        if (last === undefined) return;
        after = last.number;
      }
    },
  };
}

function contactOf({ contact, photo_type: mediaType, photo }: Row): Contact {
  // What an older version has staged lacks the newer fields.
  const stored = { ...BLANK_CONTACT, ...(JSON.parse(contact) as Omit<Contact, 'photo'>) };
  return mediaType === null || photo === null ? stored : { ...stored, photo: { mediaType, bytes: photo } };
}
