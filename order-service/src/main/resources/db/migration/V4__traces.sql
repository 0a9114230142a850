-- Of an order that is traced: the parent of what becomes of it (W3C Trace Context). A column without
-- a default takes no room in the rows where it is null.
alter table order_deadline add column traceparent text;
alter table outbox add column traceparent text;
