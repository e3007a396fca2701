-- When the PostgreSQL that the transfer was last taken on had started; null: by a version that did not note it.
alter table transfers add column server_started timestamptz;
