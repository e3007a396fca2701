-- When a sign-in was last shown, in milliseconds since the epoch; null when never since it began.
alter table sessions add column used double precision;
-- The same browser as sign-ins at providers know it, so that all of a mailbox can be ended at once.
alter table sessions add column consent_browser text;
alter table status_hashes add column browser text;
