-- A format that has folders of its own needs a mailbox's name in its parts, and what the mailbox is for (RFC 6154).
alter table export_mailboxes
  add column delimiter text not null default '',
  add column special_use text not null default '';
