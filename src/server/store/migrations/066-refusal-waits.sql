-- How often an operation has waited for what a server refused without a reason.
alter table operations add column refusal_waits integer not null default 0;
