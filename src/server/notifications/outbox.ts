import type { Sql } from '../store/database.ts';

export type NotificationKind = 'started' | 'finished' | 'attention';

export type Notification = {
  readonly id: number;
  readonly transferId: string;
  readonly kind: NotificationKind;
  /** An address, or `+1` and ten digits. */
  readonly contact: string;
  readonly attempts: number;
};

/** Longer than a slow mail server takes for a letter: nobody else sends it meanwhile. After a crash it comes back then. */
const HELD_SECONDS = 600;
/** How long one that could not be sent waits before it is tried again, in seconds, doubling with each attempt. */
const FIRST_RETRY_SECONDS = 30;
const LAST_RETRY_SECONDS = 3600;
/** Then it is given up: about a day. */
const ATTEMPTS = 30;

/** To be called in the transaction that makes the news true. Each kind is told once for a transfer. */
export async function queueNotification(
  sql: Sql,
  transferId: string,
  kind: NotificationKind,
  contact: string,
): Promise<void> {
  await sql.query(
    'insert into notifications (transfer_id, kind, contact) values ($1, $2, $3) on conflict (transfer_id, kind) do nothing',
    [transferId, kind, contact],
  );
}

/** Takes the next one that is due, so that no other process sends it meanwhile; note what became of it. */
export async function claimNotification(sql: Sql): Promise<Notification | null> {
  const [row] = await sql.query<{
    id: number | string;
    transfer_id: string;
    kind: NotificationKind;
    contact: string;
    attempts: number;
  }>(
    `update notifications set attempts = attempts + 1,
       due = now() + make_interval(secs => ${HELD_SECONDS})
     where id = (select id from notifications where sent is null and due <= now() and attempts < ${ATTEMPTS}
                 order by due limit 1 for update skip locked)
     returning id, transfer_id, kind, contact, attempts`,
  );
  if (row === undefined) return null;
  return {
    id: Number(row.id),
    transferId: row.transfer_id,
    kind: row.kind,
    contact: row.contact,
    attempts: row.attempts,
  };
}

export async function noteSent(sql: Sql, id: number): Promise<void> {
  await sql.query('update notifications set sent = now() where id = $1', [id]);
}

export async function noteUnsent(sql: Sql, id: number): Promise<void> {
  await sql.query(
    `update notifications set due = now() +
       make_interval(secs => least(${LAST_RETRY_SECONDS}, ${FIRST_RETRY_SECONDS} * power(2, attempts - 1)))
     where id = $1 and sent is null`,
    [id],
  );
}
