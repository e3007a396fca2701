-- When `left_seconds` was reckoned.
alter table operations add column left_noted timestamptz;
