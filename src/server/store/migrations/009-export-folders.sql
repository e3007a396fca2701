-- A format with its own folders needs a mailbox's name in its parts, and its special use (RFC 6154).
alter table export_mailboxes
  add column delimiter text not null default '',
  add column special_use text not null default '';
