-- CRC-32 (big-endian) of each piece of 1 MiB of a finished file, so that no damaged piece of it is handed out. Missing for
-- files of before.
alter table export_files add column pieces bytea;
