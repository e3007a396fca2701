-- Keyed digests of the mailboxes whose moves we announced to the account service: moves that it reports as running may have failed since.
create table announced_moves (
  mailbox text primary key,
  announced timestamptz not null default now()
);
