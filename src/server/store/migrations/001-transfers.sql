-- One row for each job that a subscriber started. Secrets are never in it: see credentials.
create table transfers (
  id text primary key check (id ~ '^[0-9a-f]{32}$'),
  -- A digest of all that was submitted but the passwords: the same submit finds the same transfer.
  submit_key text not null,
  source_email text not null,
  source_provider text not null,
  source_imap text,
  destination_email text not null,
  destination_provider text not null,
  destination_imap text,
  operations text[] not null,
  email_format text,
  contacts_format text,
  notification_contact text,
  in_qa boolean not null default false,
  created timestamptz not null default now(),
  finished timestamptz
);
-- A mailbox is read by one transfer at a time.
create unique index transfers_running on transfers (source_email) where finished is null;
create index transfers_by_destination on transfers (destination_email, created desc);
create index transfers_by_submit on transfers (submit_key);

-- What the status page shows. Counts never fall; done never exceeds total.
create table operations (
  transfer_id text not null references transfers on delete cascade,
  operation text not null,
  -- started, inprogress, completed, review, authentication_error, error
  status text not null default 'started',
  done integer not null default 0,
  total integer,
  bytes bigint not null default 0,
  lost integer,
  duplicated integer,
  changed integer,
  -- A sentence for the subscriber when the status is review, authentication_error or error.
  failure text,
  started timestamptz,
  finished timestamptz,
  primary key (transfer_id, operation)
);

-- Passwords and OAuth token references, sealed (AES-256-GCM, bound to transfer and role); the row goes when the job ends.
create table credentials (
  transfer_id text not null references transfers on delete cascade,
  role text not null check (role in ('source', 'destination')),
  sealed bytea not null,
  primary key (transfer_id, role)
);
