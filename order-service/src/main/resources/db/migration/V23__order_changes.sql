-- What the shop has changed in an order. Not columns of an order alone: a change can be read before its order, and
-- the history of an order tells its changes. Rows are deleted with their orders.
create table order_change (
  id                    bigint generated always as identity primary key,
  order_id              text collate "C" not null,
  stored_at             timestamptz not null default clock_timestamp(),
  changed_at            timestamptz not null,
  -- What it states; null is left as it is.
  deadline              timestamptz,
  set_by                text,
  channel               text,
  payment_method        text,
  amount                numeric,
  currency              text,
  -- Whether what follows is that of a policy that it names.
  has_policy            boolean not null,
  grace_seconds         integer,
  leads                 integer[],
  warned                smallint,
  confirm_seconds       integer,
  cancel_unconfirmed    boolean,
  -- When it was made; null while its order is not known, and if its order was decided before.
  made_at               timestamptz,
  deadline_before       timestamptz,
  deadline_after        timestamptz,
  extended_until_before timestamptz
);

create index order_change_of_order on order_change (order_id, id);

-- For those of orders that never came.
create index order_change_waiting on order_change (stored_at) where made_at is null;
