-- Messages and octets in the files of a finished export: what was staged and then lost may be gone from the mailbox.
alter table exports add column messages integer;
alter table exports add column octets bigint;
-- How many messages and mailboxes it lacks: of them only some are named.
alter table exports add column mail_unsaved integer;
