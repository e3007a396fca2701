-- Of what the source held when this became of the contact, so that a later run knows one that was changed since. Empty: not
-- known, as for rows of before.
alter table contact_fates add column digest text not null default '';
