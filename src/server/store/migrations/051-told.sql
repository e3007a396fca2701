-- Since when an operation has waited, by its worker's clock, with nothing done in between.
alter table operations add column waiting_since timestamptz;
-- A sentence for the owner about what was not taken back.
alter table take_backs add column remark text;
