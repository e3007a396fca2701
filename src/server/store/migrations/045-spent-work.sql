-- Proofs of work that were taken, so that each is taken once; times are milliseconds since the epoch.
create table spent_work (
  id text primary key,
  expires double precision not null
);
