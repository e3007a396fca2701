import type { ContactCounts, Skipped } from '../../contract/calls/status.ts';
import type { Sql } from '../store/database.ts';
import { storable } from '../store/storable.ts';
import { isHeld, LeaseLost, type Lease } from '../transfers/lease.ts';
import type { ContactFates, Fate, FateName } from './contact-fates.ts';
import { CONTACTS_MAILBOX } from './contact-store.ts';

const NAME_LENGTH = 200;

type Change = {
  uid: string;
  fate: FateName;
  destination_id: string;
  name: string;
  remarks: readonly string[];
  stays: readonly string[];
  digest: string;
};

/** The fates of a transfer's contacts. Nothing else writes this table. Writes throw {@link LeaseLost}. */
export function openContactFates(sql: Sql, { transferId, epoch }: Lease): ContactFates {
  const write = async (changes: readonly Change[]): Promise<void> => {
    if (changes.length === 0) return;
    const rows = await sql.query(
      `insert into contact_fates (transfer_id, uid, fate, destination_id, name, remarks, stays, digest)
       select $1, c.uid, c.fate, c.destination_id, c.name, c.remarks, c.stays, c.digest
       from jsonb_to_recordset($3::jsonb)
         as c(uid text, fate text, destination_id text, name text, remarks jsonb, stays jsonb, digest text)
       where exists (select 1 from transfers where ${isHeld()})
       on conflict (transfer_id, uid) do update set fate = excluded.fate, destination_id = excluded.destination_id,
         name = excluded.name, remarks = excluded.remarks, stays = excluded.stays, digest = excluded.digest
       returning 1`,
      [transferId, epoch, JSON.stringify(changes)],
    );
    if (rows.length === 0) throw new LeaseLost(transferId);
  };
  return {
    all: async () => {
      const rows = await sql.query<{ uid: string; destination_id: string } & Omit<Fate, 'destinationId'>>(
        'select uid, fate, destination_id, stays, remarks, digest from contact_fates where transfer_id = $1',
        [transferId],
      );
      return new Map(
        rows.map(({ uid, destination_id: destinationId, ...fate }): [string, Fate] => [
          uid,
          { ...fate, destinationId },
        ]),
      );
    },
    intend: (contacts) =>
      write(
        contacts.map(({ uid, destinationId }) => ({
          uid,
          fate: 'intent',
          destination_id: destinationId,
          name: '',
          remarks: [],
          stays: [],
          digest: '',
        })),
      ),
    settle: (settled) =>
      write(
        settled.map(({ uid, fate, name, remarks, destinationId = '', stays = [], digest = '' }) => ({
          uid,
          fate,
          destination_id: destinationId,
          name: storable(name, NAME_LENGTH),
          remarks: remarks.map((remark) => storable(remark)),
          stays,
          digest,
        })),
      ),
    forget: async (ids) => {
      const rows = await sql.query(
        `delete from contact_fates where transfer_id = $1 and uid in (select jsonb_array_elements_text($3::jsonb))
           and exists (select 1 from transfers where ${isHeld()}) returning 1`,
        [transferId, epoch, JSON.stringify(ids)],
      );
      if (rows.length === 0) throw new LeaseLost(transferId);
    },
    remark: async (remarks) => {
      if (remarks.length === 0) return;
      const rows = await sql.query(
        `update contact_fates f set remarks = case when f.remarks @> to_jsonb(c.remark) then f.remarks
           else f.remarks || to_jsonb(c.remark) end
         from jsonb_to_recordset($3::jsonb) as c(uid text, remark text)
         where f.transfer_id = $1 and f.uid = c.uid and exists (select 1 from transfers where ${isHeld()})
         returning 1`,
        [transferId, epoch, JSON.stringify(remarks)],
      );
      if (rows.length === 0) throw new LeaseLost(transferId);
    },
  };
}

/** Contacts counted by outcome; `null` if the transfer has none. The five counts add up to the contacts done. */
export async function contactCounts(sql: Sql, transferId: string): Promise<ContactCounts | null> {
  const [row] = await sql.query<ContactCounts & { all: number }>(
    `select count(*)::integer as all,
       (count(*) filter (where fate = 'copied' and remarks = '[]'))::integer as copied,
       (count(*) filter (where fate = 'copied' and remarks <> '[]'))::integer as remarked,
       (count(*) filter (where fate = 'present'))::integer as present,
       (count(*) filter (where fate = 'completed'))::integer as completed,
       (count(*) filter (where fate = 'refused'))::integer as refused
     from contact_fates where transfer_id = $1 and fate not in ('intent', 'group')`,
    [transferId],
  );
  if (row === undefined || row.all === 0) return null;
  const { all: _all, ...counts } = row;
  return counts;
}

/** Remarks about individual contacts: those that were not copied, or all the others. */
export async function contactRemarks(
  sql: Sql,
  transferId: string,
  of: 'refused' | 'others',
  most: number,
): Promise<Skipped[]> {
  const rows = await sql.query<{ name: string; remark: string }>(
    `select name, remark.value as remark from contact_fates, jsonb_array_elements_text(remarks) as remark
     where transfer_id = $1 and (fate = 'refused') = $2 and fate <> 'intent' order by name, uid limit $3`,
    [transferId, of === 'refused', most],
  );
  return rows.map(({ name, remark }) => ({
    mailbox: CONTACTS_MAILBOX,
    reason: remark,
    ...(name === '' ? {} : { subject: name }),
  }));
}
