import type { Forwarding } from '../../contract/calls/status.ts';
import type { Sql } from '../store/database.ts';
import { forwardingOf } from './forwardings.ts';

/** What a row of `operations`, with its transfer's destination, tells about a forwarding. */
type OrderedRow = {
  readonly status: string;
  readonly failure: string | null;
  readonly started: Date | null;
  readonly finished: Date | null;
  readonly destination_email: string;
  readonly forwarding_ended: Date | null;
  readonly forwarding_copies: boolean | null;
};

/** Whether the forwarding that was ordered is on, or may be yet. */
export function isToCome(ordered: Forwarding | undefined): boolean {
  if (ordered === undefined) return false;
  return ordered.finished === undefined || (ordered.status === 'completed' && ordered.ended === undefined);
}

/** The forwarding that is on, set up by any transfer between the same mailboxes. */
export async function standingForwarding(sql: Sql, id: string): Promise<Forwarding | null> {
  const forwarding = await forwardingOf(sql, id);
  if (forwarding?.isOn !== true || forwarding.since === undefined) return null;
  const since = forwarding.since.toISOString();
  const { to, copies } = forwarding;
  return { status: 'completed', finished: since, to, since, ...(copies === undefined ? {} : { copies }) };
}

export function orderedForwarding(row: OrderedRow): Forwarding {
  const {
    status,
    failure,
    started,
    finished,
    destination_email: to,
    forwarding_ended: ended,
    forwarding_copies: copies,
  } = row;
  return {
    status,
    ...(failure === null ? {} : { failure }),
    ...(started === null ? {} : { started: started.toISOString() }),
    ...(finished === null ? {} : { finished: finished.toISOString() }),
    ...(status === 'completed' && finished !== null ? { to, since: finished.toISOString() } : {}),
    ...(copies === null ? {} : { copies }),
    ...(ended === null ? {} : { ended: ended.toISOString() }),
  };
}
