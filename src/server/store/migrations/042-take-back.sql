-- By these a message is recognized: the flags it was appended with, and the digest of the provider's own form, if it has one.
alter table ledger add column flags text[];
alter table ledger add column stored_sha256 bytea;
-- intent: about to be taken back, or perhaps taken back.
alter table ledger add column removal text check (removal in ('intent', 'removed'));
create index ledger_removed on ledger (mailbox_id) where removal is not null;

-- Folders that a transfer has made at its destination.
create table made_folders (
  transfer_id text not null references transfers on delete cascade,
  path text not null,
  primary key (transfer_id, path)
);

-- What a transfer has copied is to be taken back, or was.
create table take_backs (
  transfer_id text primary key references transfers on delete cascade,
  asked timestamptz not null default now(),
  finished timestamptz,
  idle_runs integer not null default 0
);
