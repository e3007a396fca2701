-- Mailboxes that the account service was told of by us, as keyed digests: what it says to be going on may have failed since.
create table announced_moves (
  mailbox text primary key,
  announced timestamptz not null default now()
);
