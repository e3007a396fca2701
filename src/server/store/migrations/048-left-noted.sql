-- When `left_seconds` was estimated.
alter table operations add column left_noted timestamptz;
