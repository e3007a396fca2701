import type { Database } from '../../../store/database.ts';
import type { Ledger } from './ledger.ts';
import { storedPath } from './rows.ts';

type Ownership = Pick<Ledger, 'claimed' | 'disown' | 'disowned'>;

/** Which messages of the destination belong to a transfer, and which to nobody. */
export function ownershipAt(database: Database, transferId: string): Ownership {
  return {
    claimed: async (destinationPath, uidValidity) =>
      new Set(
        (
          await database.query<{ uid: number }>(
            `select l.destination_uid::float8 as uid from ledger l join ledger_mailboxes m on m.id = l.mailbox_id
             where m.transfer_id = $1 and m.destination_path = $2
               and l.destination_uid_validity = $3 and l.destination_uid is not null`,
            [transferId, storedPath(destinationPath), uidValidity.toString()],
          )
        ).map((row) => row.uid),
      ),
    disown: (destinationPath, uidValidity, uid) =>
      database.transaction(async (sql) => {
        const place = [transferId, storedPath(destinationPath), uidValidity.toString(), uid];
        const transfer = await sql.query('select 1 from transfers where id = $1 for update', [transferId]);
        // Its subscriber has been erased: a new order of theirs, which is unknown here, may already count on the
        // message.
        if (transfer.length === 0) return false;
        const claims = await sql.query(
          `select 1 from ledger l join ledger_mailboxes m on m.id = l.mailbox_id
           where m.transfer_id = $1 and m.destination_path = $2 and l.destination_uid_validity = $3
             and l.destination_uid = $4`,
          place,
        );
        if (claims.length > 0) return false;
        await sql.query(
          'insert into ledger_disowned (transfer_id, destination_path, uid_validity, uid) values ($1, $2, $3, $4) on conflict do nothing',
          place,
        );
        return true;
      }),
    disowned: async () =>
      (
        await database.query<{ path: string; validity: string; uid: number }>(
          `select destination_path as path, uid_validity::text as validity, uid::float8 as uid from ledger_disowned
           where transfer_id = $1`,
          [transferId],
        )
      ).map(({ path, validity, uid }) => ({ destinationPath: path, uidValidity: BigInt(validity), uid })),
  };
}
