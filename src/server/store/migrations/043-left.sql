-- The estimated number of seconds until the operation is done; null while there is no estimate.
alter table operations add column left_seconds integer;
