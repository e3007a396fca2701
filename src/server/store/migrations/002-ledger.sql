-- Who works on a transfer: each worker that takes it raises the epoch, and writes of an older one are refused.
alter table transfers add column epoch integer not null default 0;
-- Runs in a row that moved nothing; too many of them end the operation.
alter table operations add column idle_runs integer not null default 0;

-- One row for each source mailbox and UIDVALIDITY, and where its messages go. The name stays the same for the whole transfer.
create table ledger_mailboxes (
  id bigint generated always as identity primary key,
  transfer_id text not null references transfers on delete cascade,
  source_path text not null,
  source_uid_validity bigint not null,
  destination_path text not null,
  -- As they were before the first append of this transfer: what came since has a UID from here on.
  destination_uid_validity bigint,
  destination_uid_next bigint,
  unique (transfer_id, source_path, source_uid_validity)
);

-- One row for each message of the source.
create table ledger (
  mailbox_id bigint not null references ledger_mailboxes on delete cascade,
  uid bigint not null,
  -- listed: seen at the source. intent: about to be appended, or perhaps appended. done: stored at the destination.
  -- refused: the destination or the source will not have it. gone: deleted at the source before it was read.
  -- superseded: done, but under an older UIDVALIDITY; the newer row has taken its place.
  state text not null default 'listed' check (state in ('listed', 'intent', 'done', 'refused', 'gone', 'superseded')),
  size bigint not null,
  sha256 bytea,
  internal_date timestamptz,
  flags text[],
  destination_uid_validity bigint,
  -- Noted before the append: a message that it stored has this UID or a higher one.
  destination_uid_next bigint,
  destination_uid bigint,
  reason text,
  subject text,
  primary key (mailbox_id, uid)
);
create index ledger_pending on ledger (mailbox_id, uid) where state in ('listed', 'intent');
create index ledger_refused on ledger (mailbox_id) where state = 'refused';
create index ledger_claims on ledger (mailbox_id, destination_uid) where destination_uid is not null;

-- Items of an operation without a ledger that the destination did not take: [{mailbox, reason, subject?}].
alter table operations add column skipped jsonb;
