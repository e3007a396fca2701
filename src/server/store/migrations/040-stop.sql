-- When the owner asked for a stop; a worker that holds the lease looks for it.
alter table transfers add column stop_asked timestamptz;

-- Its owner has stopped the transfer before this operation had ended.
alter table operations add column cancelled boolean not null default false;
create index transfers_by_source on transfers (source_email, created desc);
