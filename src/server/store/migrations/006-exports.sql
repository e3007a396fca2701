-- One row for each transfer to files. Its mailboxes, messages and contacts below are the work under way and go when it is finished.
create table exports (
  id bigint generated always as identity primary key,
  transfer_id text not null unique references transfers on delete cascade,
  -- How links name it; not the transfer ID, which is told to more people.
  name text not null unique check (name ~ '^[0-9a-f]{32}$'),
  created timestamptz not null default now(),
  -- Parts whose messages are settled, counted from 1.
  sealed integer not null default 0,
  -- The number of the last part, once all mail is staged.
  last_part integer,
  -- What the source lists and does not hand out, as the status tells it.
  mail_skipped jsonb,
  contacts_skipped jsonb,
  contacts_staged timestamptz,
  -- Nothing is offered before it.
  finished timestamptz,
  expires timestamptz,
  deleted timestamptz
);
create index exports_expiring on exports (expires) where deleted is null;

create table export_mailboxes (
  id bigint generated always as identity primary key,
  export_id bigint not null references exports on delete cascade,
  -- JSON text: a server's name for a mailbox can hold what a text column can't.
  path text not null,
  folder text not null,
  unique (export_id, path)
);

-- One row for each message that is staged: on a disk, in a segment file of the staging folder, at a position.
create table export_messages (
  mailbox_id bigint not null references export_mailboxes on delete cascade,
  number integer not null,
  export_id bigint not null references exports on delete cascade,
  uid_validity bigint not null,
  uid bigint not null,
  size bigint not null,
  sha256 text not null,
  internal_date timestamptz not null,
  flags jsonb not null,
  line_ends text not null check (line_ends in ('crlf', 'kept')),
  -- The file's name for eml, the address of the From_ line for mbox.
  label text not null,
  segment text not null,
  position bigint not null,
  -- The part of the archive that it belongs to, once that is settled.
  part integer,
  primary key (mailbox_id, number),
  unique (mailbox_id, uid_validity, uid)
);
create index export_messages_by_part on export_messages (export_id, part, mailbox_id, number);

-- Finished parts. They never change: a part that is written again gets another name.
create table export_files (
  export_id bigint not null references exports on delete cascade,
  part integer not null,
  name text not null,
  size bigint not null,
  sha256 text not null,
  primary key (export_id, part)
);

-- Contacts as they were read: all of a Contact but its photo, as JSON.
create table export_contacts (
  export_id bigint not null references exports on delete cascade,
  number integer not null,
  contact text not null,
  photo_type text,
  photo bytea,
  primary key (export_id, number)
);
