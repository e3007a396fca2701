-- Rate limits by a keyed digest of who or what is limited; times are milliseconds since the epoch.
create table limits (
  key text primary key,
  -- When the burst will be full again.
  free_at double precision not null
);

-- The next sign-in of a client that was refused at a busy mailbox: nobody else can take that slot.
create table limit_slots (
  limit_key text not null,
  client text not null,
  slot double precision not null,
  primary key (limit_key, client)
);

-- Clients that have signed in to a mailbox, by a keyed digest of both.
create table known_clients (
  key text primary key,
  seen double precision not null
);

-- What POST /api/validate/ answers with as `token`, by its digest, bound to the mailbox's digest.
create table sessions (
  token text primary key,
  mailbox text not null,
  expires double precision not null
);
