import { displayName } from '../../contract/display-name.ts';
import type { Provider } from '../../contract/provider.ts';
import { counted } from '../counted.ts';
import { COPIED, countSkippedMessages, foldersLeft } from '../mail/copy/ledger/report.ts';
import type { Sql } from '../store/database.ts';
import { forwardingOf } from '../transfers/forwardings.ts';

/** What a receipt says of a transfer as a whole. Times are ISO 8601. */
export type Facts = {
  readonly transfer: string;
  readonly from: string;
  readonly to: string;
  readonly ordered: string;
  readonly ended: string;
  readonly operations: readonly {
    readonly operation: string;
    readonly status: string;
    readonly stopped: boolean;
    readonly lost: number | null;
    readonly duplicated: number | null;
    readonly changed: number | null;
    readonly failure: string | null;
    /** So many have a line that says why they are not there; messages that are lost are among them, contacts are not. */
    readonly left_out?: number;
  }[];
  /** Of the messages that this transfer has copied, those that were read back and are what was sent. */
  readonly compared: number;
  readonly copied: number;
  readonly octets: number;
  /** Of those that were copied, so many were removed again at their owner's wish. */
  readonly taken_back?: number;
  /** Some still was, as the receipt was written: its numbers and its lines are of different moments. */
  readonly taking_back?: true;
  /** Whole folders that could not be copied, or not be checked, and why; their messages have no lines. */
  readonly folders_left?: readonly { readonly folder: string; readonly reason: string }[];
  /** So many more were on their way when it ended, and may have arrived; they have no line. */
  readonly unsure?: number;
  /** Since when new mail is forwarded, by an earlier or a later transfer between the same mailboxes. */
  readonly forwarded_since?: string;
  /** When forwarding that had been set up was switched off, or went over to another address. */
  readonly forwarding_ended?: string;
};

const TAKING_BACK =
  'We were taking messages back while we wrote this receipt. Please download it again when that is done, because its numbers will change.';
const TO_FILES = 'Files for download';

/** `null` for a transfer that has not ended, or that there is not. */
export async function factsOf(sql: Sql, transferId: string, legacyName: string): Promise<Facts | null> {
  const [row] = await sql.query<{
    source_email: string;
    source_provider: Provider;
    destination_email: string;
    destination_provider: Provider;
    created: Date;
    finished: Date | null;
  }>('select * from transfers where id = $1', [transferId]);
  if (row === undefined || row.finished === null) return null;
  const ended = await sql.query<Facts['operations'][number]>(
    `select operation, status, cancelled as stopped, lost, duplicated, changed,
       case when operation = 'emailmigration' then coalesce(remark, failure) else failure end as failure
     from operations left join take_backs on take_backs.transfer_id = operations.transfer_id
     where operations.transfer_id = $1 order by operation desc`,
    [transferId],
  );
  const operations: Facts['operations'][number][] = [];
  for (const each of ended) {
    const leftOut = await leftOutBy(sql, transferId, each.operation);
    operations.push(leftOut === 0 ? each : { ...each, left_out: leftOut });
  }
  const [counts] = await sql.query<{ compared: number; copied: number; octets: number; removed: number }>(
    `select (count(*) filter (where l.verified))::integer as compared, count(*)::integer as copied,
       coalesce(sum(l.size), 0)::float8 as octets,
       (count(*) filter (where l.removal = 'removed'))::integer as removed
     from ledger l join ledger_mailboxes m on m.id = l.mailbox_id
     where m.transfer_id = $1 and ${COPIED}`,
    [transferId],
  );
  const [open] = await sql.query<{ unsure: number }>(
    'select coalesce(sum(cardinality(uids)), 0)::integer as unsure from ledger_groups where transfer_id = $1',
    [transferId],
  );
  const unsure = open?.unsure ?? 0;
  const [forwarding] = await sql.query<{ ended: Date }>(
    'select forwarding_ended as ended from operations where transfer_id = $1 and forwarding_ended is not null',
    [transferId],
  );
  const forwards =
    forwarding === undefined &&
    operations.some(({ operation, status }) => operation === 'emailforwarding' && status === 'completed');
  const standing = forwards ? null : await forwardingOf(sql, transferId);
  const forwarded = standing?.isOn === true ? standing : null;
  const goesOn = await sql.query('select 1 from take_backs where transfer_id = $1 and finished is null', [transferId]);
  const left = await foldersLeft(sql, transferId);
  const { removed, ...copies } = counts ?? { compared: 0, copied: 0, octets: 0, removed: 0 };
  const isExport = row.destination_provider === 'file_export';
  // An export has no ledger: its list of messages is in its files.
  const [saved] = isExport
    ? await sql.query<{ copied: number; octets: number }>(
        `select case when status = 'completed' then coalesce(messages, done) else 0 end as copied,
           case when status = 'completed' then coalesce(octets, bytes)::float8 else 0 end as octets
         from operations left join exports on exports.transfer_id = operations.transfer_id
         where operations.transfer_id = $1 and operation = 'emailmigration'`,
        [transferId],
      )
    : [];
  const nameOf = (provider: Provider) => (provider === 'other' ? '' : ` (${displayName(provider, legacyName)})`);
  return {
    transfer: transferId,
    from: `${row.source_email}${nameOf(row.source_provider)}`,
    to: isExport ? TO_FILES : `${row.destination_email}${nameOf(row.destination_provider)}`,
    ordered: row.created.toISOString(),
    ended: row.finished.toISOString(),
    operations,
    ...copies,
    ...(removed === 0 ? {} : { taken_back: removed }),
    ...(goesOn.length === 0 ? {} : { taking_back: true }),
    ...(left.length === 0 ? {} : { folders_left: left }),
    ...(unsure === 0 ? {} : { unsure }),
    ...(forwarded?.since === undefined ? {} : { forwarded_since: forwarded.since.toISOString() }),
    ...(forwarding === undefined ? {} : { forwarding_ended: forwarding.ended.toISOString() }),
    ...saved,
  };
}

/** How many messages or contacts have a line that says why they are not there. */
async function leftOutBy(sql: Sql, transferId: string, operation: string): Promise<number> {
  if (operation === 'emailmigration') return countSkippedMessages(sql, transferId);
  if (operation !== 'contactsmigration') return 0;
  const [row] = await sql.query<{ refused: number }>(
    "select count(*)::integer as refused from contact_fates where transfer_id = $1 and fate = 'refused'",
    [transferId],
  );
  return row?.refused ?? 0;
}

const NUMBER = new Intl.NumberFormat('en-US');

/** How it was compared. */
export function comparisonOf({ compared, copied, to, operations, unsure = 0, taking_back: goesOn }: Facts): string {
  if (to === TO_FILES && operations.every(({ status }) => status !== 'completed'))
    return 'There are no files, so there was nothing to compare.';
  if (to === TO_FILES)
    return 'Your files have the list of every message, with its SHA-256, and of every contact: see manifest.csv in each of them.';
  const besides =
    unsure === 0
      ? ''
      : ` Up to ${counted(unsure, 'more message was on its', 'more messages were on their')} way when the transfer ended, and may be there as well.`;
  if (copied === 0) return `No message was copied, so there was nothing to compare.${besides}`;
  const what = `${NUMBER.format(compared)} of ${counted(copied, 'copied message', 'copied messages')}`;
  const meanwhile = goesOn === true ? ` ${TAKING_BACK}` : '';
  return `We read ${what} back from the new mailbox and compared every byte, the date and the size with what we sent.${besides}${meanwhile}`;
}

/** What no transfer of this kind brings. */
export function notMoved({ operations, from, to, forwarded_since: since, forwarding_ended: ended }: Facts): string[] {
  const has = (name: string) => operations.some(({ operation }) => operation === name);
  const isForwarded =
    since !== undefined ||
    (ended === undefined &&
      operations.some(({ operation, status }) => operation === 'emailforwarding' && status === 'completed'));
  const [address, newAddress] = [addressOf(from), addressOf(to)];
  return [
    'Mail rules, filters, signatures and other settings',
    'Calendars, tasks and notes',
    `Passwords, and your sign-ins at stores and websites with ${address}`,
    ...(has('contactsmigration') ? [] : ['Contacts']),
    ...(has('emailmigration') ? [] : ['Email']),
    ...(isForwarded || address === newAddress ? [] : [`Mail that comes to ${address} from now on`]),
  ];
}

/** The address of `ann@mail.example (Gmail)`. */
function addressOf(account: string): string {
  return account.split(' ')[0] ?? '';
}
