-- A digest of the SECRET_KEY that everything sealed here was sealed with; one row at most.
create table sealing_key (
  is_the_one boolean primary key default true check (is_the_one),
  digest text not null
);
