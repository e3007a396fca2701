-- By the digest of the mailbox alone, so that a subscriber can be erased.
alter table known_clients add column mailbox text;
create index known_clients_by_mailbox on known_clients (mailbox);
