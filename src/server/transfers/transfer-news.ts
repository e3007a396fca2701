import type { WaitingReason } from '../../contract/calls/status.ts';
import type { Operation } from '../../contract/operation.ts';
import type { Provider } from '../../contract/provider.ts';
import { shownStatusOf } from '../../contract/transfer-status.ts';
import type { News } from '../notifications/news.ts';
import type { Sql } from '../store/database.ts';
import { endOfRest, restingOperations } from './attention.ts';
import { forwardingOf } from './forwardings.ts';
import type { StatusSources } from './status.ts';

/**
 * Whether the transfer's owner has signed in to this address. To that of an export nobody has, and an address of the
 * legacy provider is refused as a contact.
 */
function isProven(transfer: { destination_provider: Provider; destination_email: string }, contact: string): boolean {
  return transfer.destination_provider !== 'file_export' && contact === transfer.destination_email;
}

/** A letter that could not be sent at once is retried after more than this. */
const LETTERS_GO_WITHIN = '10 seconds';

type TransferRow = {
  source_email: string;
  destination_provider: Provider;
  destination_email: string;
  notification_contact: string | null;
  resumed: number;
  has_long_ended: boolean;
  daily_is_off: boolean;
  take_back_asked: Date | null;
};

async function transferOf(sql: Sql, id: string): Promise<TransferRow | undefined> {
  const [transfer] = await sql.query<TransferRow>(
    `select source_email, destination_provider, destination_email, notification_contact, resumed,
       coalesce(finished < now() - interval '${LETTERS_GO_WITHIN}', false) as has_long_ended,
       by_itself and exists (select 1 from dailies where dailies.source_email = transfers.source_email
         and ended is not null) as daily_is_off,
       (select asked from take_backs where transfer_id = id) as take_back_asked
     from transfers where id = $1`,
    [id],
  );
  return transfer;
}

type OperationRow = {
  operation: Operation;
  status: string;
  done: number;
  failure: string | null;
  finished: Date | null;
  skipped: number;
  waiting_reason: WaitingReason | null;
  waiting_until: Date | null;
  waits: boolean;
};

function operationsOf(sql: Sql, id: string): Promise<OperationRow[]> {
  return sql.query<OperationRow>(
    `select operation, status, done, failure, finished, waiting_reason,
       case when waiting_until > now() then waiting_until end as waiting_until, waiting_since is not null and finished is null as waits,
       coalesce(jsonb_array_length(skipped), 0) as skipped
     from operations where transfer_id = $1 order by operation desc`,
    [id],
  );
}

/** The contents of a letter about a transfer; `null` if there is no such transfer, or nobody to notify. */
export async function newsOf(sql: Sql, sources: StatusSources, id: string): Promise<News | null> {
  const transfer = await transferOf(sql, id);
  if (transfer === undefined || transfer.notification_contact === null) return null;
  const rows = await operationsOf(sql, id);
  const [resting] = await restingOperations(sql, id);
  const waiting = rows.find(({ waits }) => waits);
  const back = await sources.takenBack(id);
  const forwarding = await forwardingOf(sql, id);
  const daily = await sources.daily(id);
  return {
    ...(transfer.has_long_ended ? { hasLongEnded: true } : {}),
    contact: transfer.notification_contact,
    isConfirmed: isProven(transfer, transfer.notification_contact),
    source: transfer.source_email,
    destination: { provider: transfer.destination_provider, email: transfer.destination_email },
    ...(await countsOf(rows, sources, id)),
    outcomes: rows
      // Operations at rest are covered by `attention`.
      .filter((row) => shownStatusOf(row.status) === 'failed' && row.finished !== null)
      .filter((row) => row.operation !== 'emailforwarding' || forwarding?.isOn !== true)
      .flatMap((row) => (row.failure === null ? [] : [row.failure])),
    ...(resting === undefined
      ? {}
      : {
          attention: {
            operation: resting.operation,
            side: resting.side,
            reason: resting.reason,
            until: endOfRest(resting.since),
            resumed: transfer.resumed,
          },
        }),
    ...(waiting === undefined
      ? {}
      : {
          waiting: {
            operation: waiting.operation,
            reason: waiting.waiting_reason,
            ...(waiting.waiting_until === null ? {} : { until: waiting.waiting_until }),
          },
        }),
    ...(back === null ? {} : { takenBack: { removed: back.removed, remark: back.remark ?? null } }),
    ...(transfer.take_back_asked === null ? {} : { takeBackAsked: transfer.take_back_asked }),
    ...(transfer.daily_is_off ? { dailyIsOff: true } : {}),
    ...(daily?.next === undefined ? {} : { dailyUntil: new Date(daily.until) }),
    ...(forwarding?.isOn === true && forwarding.since !== undefined
      ? { forwarding: { to: forwarding.to, since: forwarding.since } }
      : {}),
  };
}

/** How much was copied, was there already, and was left out. */
async function countsOf(rows: readonly OperationRow[], sources: StatusSources, id: string) {
  const skippedMessages = await sources.countSkippedMessages(id);
  const counts = await sources.contactCounts(id);
  const { present, presentTakenBack = 0, moved, copied } = await sources.arrivals(id);
  const skippedOf = (row: OperationRow) => {
    if (row.operation === 'emailforwarding') return 0;
    return row.skipped + (row.operation === 'emailmigration' ? skippedMessages : (counts?.refused ?? 0));
  };
  const taken = (operation: Operation) =>
    rows.filter((row) => row.operation === operation).reduce((total, row) => total + row.done - skippedOf(row), 0);
  return {
    messages: copied ?? taken('emailmigration') - present - moved,
    messagesPresent: present - presentTakenBack,
    ...(presentTakenBack === 0 ? {} : { messagesTakenBack: presentTakenBack }),
    messagesMoved: moved,
    contacts: counts === null ? taken('contactsmigration') : counts.copied + counts.remarked,
    contactsPresent: counts?.present ?? 0,
    contactsCompleted: counts?.completed ?? 0,
    remarks: (await sources.contactRemarks(id, 'others', 1)).length > 0,
    skipped: rows.reduce((total, row) => total + skippedOf(row), 0),
  };
}
