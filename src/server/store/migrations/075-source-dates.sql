-- The date that the source has told of the message since, where that is another one; null: it is `internal_date`.
alter table ledger add column source_date bigint;
