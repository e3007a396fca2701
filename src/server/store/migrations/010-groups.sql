-- The lease of the worker: until then nobody else may take the transfer. Renewed continually. Null: free.
alter table transfers add column leased_until timestamptz;

alter table operations add column waiting_reason text;
alter table operations add column waiting_until timestamptz;
-- Messages that the provider keeps in its own form.
alter table operations add column kept integer;

-- Messages the source has in a mailbox, for the status; and why it was left out or is not complete.
alter table ledger_mailboxes add column total integer;
alter table ledger_mailboxes add column reason text;

-- One row for each group of messages that is about to be appended, or was. It goes when its outcome is known.
create table ledger_groups (
  transfer_id text not null references transfers on delete cascade,
  -- The lease's epoch times a thousand million, and a count.
  number bigint not null,
  mailbox_id bigint not null references ledger_mailboxes on delete cascade,
  uids bigint[] not null,
  sizes bigint[] not null,
  -- Internal dates in seconds since the epoch.
  dates bigint[] not null,
  -- Of the destination, before the append: what the group stored has a UID from here on.
  uid_validity bigint not null,
  uid_next bigint not null,
  primary key (transfer_id, number)
);
create index ledger_groups_by_mailbox on ledger_groups (mailbox_id);

insert into ledger_groups (transfer_id, number, mailbox_id, uids, sizes, dates, uid_validity, uid_next)
select m.transfer_id, row_number() over (order by l.mailbox_id, l.uid), l.mailbox_id, array[l.uid], array[l.size],
  array[extract(epoch from l.internal_date)::bigint], coalesce(l.destination_uid_validity, 0),
  coalesce(l.destination_uid_next, 1)
from ledger l join ledger_mailboxes m on m.id = l.mailbox_id where l.state = 'intent';

-- From here on a message has a row once its fate is known.
delete from ledger where state in ('listed', 'intent', 'superseded');
drop index ledger_pending;
drop index ledger_refused;
alter table ledger drop constraint ledger_state_check;
alter table ledger rename column state to fate;
alter table ledger alter column fate drop default;
update ledger set fate = 'stored' where fate = 'done';
alter table ledger add constraint ledger_fate_check
  check (fate in ('stored', 'kept', 'changed', 'twin', 'refused', 'gone', 'taken', 'lost'));
-- Seconds since the epoch: some servers have dates that a timestamp does not hold.
alter table ledger alter column internal_date type bigint using extract(epoch from internal_date)::bigint;
alter table ledger drop column flags;
alter table ledger drop column destination_uid_next;
alter table ledger add column verified boolean not null default false;
alter table ledger add column earlier boolean not null default false;
alter table ledger add column settled timestamptz not null default now();
create index ledger_left_out on ledger (mailbox_id) where fate in ('refused', 'lost', 'changed', 'taken');

-- Stored messages that a worker without a lease takes back: nobody claims them.
create table ledger_disowned (
  transfer_id text not null references transfers on delete cascade,
  destination_path text not null,
  uid_validity bigint not null,
  uid bigint not null,
  primary key (transfer_id, destination_path, uid_validity, uid)
);

-- Transfers that have taken over what earlier ones know.
create table ledger_adoptions (
  transfer_id text primary key references transfers on delete cascade
);
