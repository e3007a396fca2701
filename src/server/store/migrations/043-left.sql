-- Seconds until the operation is likely to be done; null while nobody can say.
alter table operations add column left_seconds integer;
