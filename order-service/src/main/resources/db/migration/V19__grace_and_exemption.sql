-- The grace period after the deadline, which the customer is not told of.
alter table order_deadline add column grace_seconds integer;

-- For the purge of orders that a policy exempts: they have a creation, and no deadline.
create index order_deadline_exempt on order_deadline (decided_at)
  where deadline is null and created_at is not null;
