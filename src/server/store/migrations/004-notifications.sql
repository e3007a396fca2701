-- Messages to the subscriber's notification contact; each kind at most once for a transfer.
create table notifications (
  id bigint generated always as identity primary key,
  transfer_id text not null references transfers on delete cascade,
  kind text not null check (kind in ('started', 'finished', 'attention')),
  contact text not null,
  attempts integer not null default 0,
  due timestamptz not null default now(),
  sent timestamptz,
  unique (transfer_id, kind)
);
create index notifications_due on notifications (due) where sent is null;
