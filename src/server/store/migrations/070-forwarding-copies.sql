-- Whether a copy of what is forwarded stays in the old mailbox; null: not known, as for rows of before.
alter table operations add column forwarding_copies boolean;
