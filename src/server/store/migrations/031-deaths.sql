-- How often a worker has run out of memory and died while working on a transfer, and whether memory is short in a run now.
alter table transfers add column deaths integer not null default 0;
alter table transfers add column short_of_memory boolean not null default false;
