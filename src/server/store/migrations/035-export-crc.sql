-- What is staged is held against it when it is read back. Messages that an older release staged fit none, and are fetched again.
alter table export_messages add column crc32 bigint not null default -1;
