-- Each row is written once more, when its message has been read back: with room on its page no index has to learn of it.
alter table ledger set (fillfactor = 50);
