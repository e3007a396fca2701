-- Whose tokens they are, by a digest of what the provider knows a person by; an address can change hands.
alter table oauth_tokens add column person text;
