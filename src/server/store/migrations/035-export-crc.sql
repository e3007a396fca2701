-- Staged messages are checked against it when they are read back. Those staged by an older release never match, and are fetched again.
alter table export_messages add column crc32 bigint not null default -1;
