-- The browsers that ordered a transfer, by the digest of what their cookie holds.
create table transfer_browsers (
  transfer_id text not null references transfers on delete cascade,
  browser text not null,
  primary key (transfer_id, browser)
);

-- What a sign-in can be checked by while an export can be had: scrypt, sealed; by the digest of the mailbox.
create table export_verifiers (
  transfer_id text primary key references transfers on delete cascade,
  mailbox text not null,
  sealed bytea not null
);
create index export_verifiers_by_mailbox on export_verifiers (mailbox);

-- The browser that signed in, and the one that began a sign-in at a provider.
alter table sessions add column browser text;
alter table oauth_tokens add column browser text;
