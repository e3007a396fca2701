import type { Contact } from '../../../contract/contact.ts';
import type { Database } from '../../store/database.ts';

const PAGE = 100;

/** The contacts of an export, until its last part is written. */
export type StagedContacts = {
  /** Takes the place of what an interrupted run left. */
  clear(): Promise<void>;
  put(number: number, contact: Contact): Promise<void>;
  count(): Promise<number>;
  contacts(): AsyncIterable<Contact>;
};

type Row = { number: number; contact: string; photo_type: string | null; photo: Uint8Array | null };

export function openStagedContacts(database: Database, exportId: number): StagedContacts {
  return {
    clear: async () => {
      await database.query('delete from export_contacts where export_id = $1', [exportId]);
    },
    put: async (number, { photo, ...contact }) => {
      await database.query(
        'insert into export_contacts (export_id, number, contact, photo_type, photo) values ($1, $2, $3, $4, $5)',
        [
          exportId,
          number,
          JSON.stringify(contact),
          photo?.mediaType ?? null,
          photo === undefined ? null : Buffer.from(photo.bytes),
        ],
      );
    },
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
          `select number, contact, photo_type, photo from export_contacts where export_id = $1 and number > $2
           order by number limit ${PAGE}`,
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
  const stored = JSON.parse(contact) as Omit<Contact, 'photo'>;
  return mediaType === null || photo === null ? stored : { ...stored, photo: { mediaType, bytes: photo } };
}
