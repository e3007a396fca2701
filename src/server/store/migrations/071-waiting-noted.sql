-- When `waiting_until` was noted.
alter table operations add column waiting_noted timestamptz;
