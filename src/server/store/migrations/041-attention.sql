-- What the owner has to fix before the operation can continue, and since when; null while it needs nobody.
alter table operations add column attention_side text check (attention_side in ('source', 'destination'));
alter table operations add column attention_reason text
  check (attention_reason in ('password', 'consent', 'full', 'refused'));
alter table operations add column attention_since timestamptz;
create index operations_at_rest on operations (transfer_id) where attention_since is not null;

-- How often its owner has put something right.
alter table transfers add column resumed integer not null default 0;
