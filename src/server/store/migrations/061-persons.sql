-- Whose account at the provider it went to, as oauth_tokens.person; null where none signed in there.
alter table transfers add column destination_person text;
-- Who proved the address, by the key and the former ones; an address can change hands.
alter table status_hashes add column persons text[];
