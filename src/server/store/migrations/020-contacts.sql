-- One row for each contact of a transfer to another provider, and for each group that there is something to say of.
create table contact_fates (
  transfer_id text not null references transfers on delete cascade,
  -- The contact's UID, or what stands for it.
  uid text not null,
  -- intent: about to be written or filled, or perhaps done. copied, present (there, nothing to add), completed (there, and
  -- now with what it lacked), refused (not copied). group: not a contact, and not counted.
  fate text not null check (fate in ('intent', 'copied', 'present', 'completed', 'refused', 'group')),
  -- How the destination names the counterpart that was there before; empty when there was none.
  destination_id text not null default '',
  name text not null default '',
  -- Sentences for the subscriber, and the parts that stayed out.
  remarks jsonb not null default '[]',
  stays jsonb not null default '[]',
  primary key (transfer_id, uid)
);

-- What an export holds of an address book besides contacts, as vCards: groups, and cards that could not be read.
create table export_cards (
  export_id bigint not null references exports on delete cascade,
  kind text not null check (kind in ('group', 'unreadable')),
  number integer not null,
  -- JSON text: a card can hold what a text column can't.
  card text not null,
  primary key (export_id, kind, number)
);

-- When its owner has switched the forwarding off that this operation had set up.
alter table operations add column forwarding_ended timestamptz;
