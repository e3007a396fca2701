-- Whoever looks at a transfer is looked for among those who are signed in.
create index sessions_by_browser on sessions (browser);
create index sessions_by_mailbox on sessions (mailbox);
