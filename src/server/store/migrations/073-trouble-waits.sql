-- How often an operation has waited for a server that hangs up or is in trouble with all mailboxes: counted apart, so that
-- what it refuses later is waited for as well.
alter table operations add column trouble_waits integer not null default 0;
