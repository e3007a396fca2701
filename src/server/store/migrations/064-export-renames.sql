-- A mailbox that messages were staged of, and whose name another one has by now.
alter table export_mailboxes add column gone boolean not null default false;
alter table export_mailboxes drop constraint export_mailboxes_export_id_path_key;
create unique index export_mailboxes_named on export_mailboxes (export_id, path) where not gone;
