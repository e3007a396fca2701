-- pg-boss holds what is to be told.
drop table notifications;
