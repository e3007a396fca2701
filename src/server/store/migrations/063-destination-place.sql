-- host:port of the destination as a worker has found it: a visitor may name the same server in several ways, or not at all.
alter table transfers add column destination_place text;
