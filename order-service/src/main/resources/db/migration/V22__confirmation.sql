-- How long after its deadline an order waits for the shop to confirm that nothing can be paid any more; null if it need
-- not. If nobody does, the order is parked, or cancelled.
alter table order_deadline add column confirm_seconds integer;
alter table order_deadline add column cancel_unconfirmed boolean;
