-- What still arrives at a mailbox is brought once a day, by transfers between the same two as transfer_id.
create table dailies (
  source_email text primary key,
  transfer_id text not null unique references transfers on delete cascade,
  next_run timestamptz not null,
  until timestamptz not null,
  -- Runs in a row that did not complete.
  failures integer not null default 0,
  -- Why it went off by itself; null while it is on.
  ended text check (ended in ('sign_in', 'failed')),
  -- The tokens that are held for it.
  token_id text
);

-- What it signs in with, sealed, exactly as long as it is on.
create table daily_credentials (
  transfer_id text not null references dailies (transfer_id) on delete cascade,
  role text not null check (role in ('source', 'destination')),
  sealed bytea not null,
  primary key (transfer_id, role)
);

-- Not ordered by anybody, but by a daily.
alter table transfers add column by_itself boolean not null default false;
-- A daily uses them: they stay when a transfer has no use for them any more.
alter table oauth_tokens add column held boolean not null default false;
