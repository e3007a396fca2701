-- A sign-in that is under way at a provider, by the digest of its one-time state. Times are milliseconds since the epoch.
create table oauth_transactions (
  state text primary key,
  -- The digest of the cookie of the browser that began it.
  browser text not null,
  provider text not null,
  purpose text not null check (purpose in ('transfer', 'status')),
  -- PKCE verifier and nonce, sealed.
  sealed bytea not null,
  expires double precision not null
);

-- Tokens that a provider gave, sealed; the browser knows the ID only.
create table oauth_tokens (
  id text primary key check (id ~ '^[0-9a-f]{32}$'),
  provider text not null,
  email text not null,
  sealed bytea not null,
  -- Until a transfer keeps it, it goes at this time.
  expires double precision not null,
  -- One process at a time refreshes; a dead one's hold runs out.
  refreshing_until double precision not null default 0
);

-- Proofs of an address, for its list of transfers, by the digest of what the browser holds.
create table status_hashes (
  hash text primary key,
  email text not null,
  expires double precision not null
);
