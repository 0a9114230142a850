-- Payments that are under way, or were. Not columns of an order: there may be several at a time, and one can be
-- read before its order. Rows are deleted with their orders.
create table payment_attempt (
  order_id   text collate "C" not null,
  -- Empty if the shop does not tell attempts apart, and for an end of all of them.
  attempt_id text collate "C" not null,
  started_at timestamptz,
  -- Until when it is under way unless it ends before; null if only its end was read.
  until      timestamptz,
  ended_at   timestamptz,
  stored_at  timestamptz not null default clock_timestamp(),
  primary key (order_id, attempt_id)
);

-- For those of orders that never came.
create index payment_attempt_by_age on payment_attempt (stored_at);

-- Until when attempts kept a cancelled order waiting; its lateness is measured from then.
alter table outbox add column held_until timestamptz;
