-- The parent of the spans of a traced order (W3C Trace Context). The column takes no space in rows where
-- it is null.
alter table order_deadline add column traceparent text;
alter table outbox add column traceparent text;
