-- One row per order, from its first event to the end of its retention.
-- Unique keys contain order_id, so that the tables can be distributed by it.
create table order_deadline (
  id             bigint generated always as identity,
  order_id       text collate "C" not null,
  shard          integer     not null,
  state          text        not null check (state in ('PENDING', 'PAID', 'CLOSED', 'CANCELLED')),
  -- Null while only the payment or the closing of the order is known.
  created_at     timestamptz,
  deadline       timestamptz,
  -- What set the deadline: the order (PAY_BY, TIMEOUT) or the name of a policy.
  policy         text,
  channel        text,
  payment_method text,
  amount         numeric,
  currency       text,
  decided_at     timestamptz,
  decided_by     text check (decided_by in ('PAYMENT', 'CLOSING', 'EXPIRY', 'STALE')),
  payment_id     text,
  paid_at        timestamptz,
  closed_at      timestamptz,
  close_reason   text,
  primary key (order_id),
  unique (id, order_id),
  check ((state = 'PENDING') = (decided_at is null)),
  check (state <> 'PENDING' or deadline is not null)
) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02);

-- For rebuilding a shard, nearest deadline first.
create index order_deadline_pending on order_deadline (shard, deadline, id) where state = 'PENDING';

-- For the purge of settled orders.
create index order_deadline_settled on order_deadline (decided_at) where state <> 'PENDING';

-- Events that are decided but not yet acknowledged by Kafka. They are deleted once they are.
create table outbox (
  id           bigint generated always as identity,
  kind         text        not null check (kind in ('ORDER_CANCELLED', 'ORDER_PAYMENT_CONFLICT')),
  order_id     text collate "C" not null,
  payment_id   text        not null default '',
  shard        integer     not null,
  created_at   timestamptz,
  deadline     timestamptz,
  cancelled_at timestamptz,
  paid_at      timestamptz,
  written_at   timestamptz not null default clock_timestamp(),
  primary key (order_id, kind, payment_id)
) with (autovacuum_vacuum_scale_factor = 0.02);

create index outbox_by_shard on outbox (shard, id);

-- Payments that met a cancelled or closed order. A row outlives its outbox row, so that a payment that
-- is delivered again after its conflict was published does not raise a second one.
create table payment_conflict (
  order_id    text collate "C" not null,
  payment_id  text        not null,
  paid_at     timestamptz,
  detected_at timestamptz not null default clock_timestamp(),
  primary key (order_id, payment_id)
);

create index payment_conflict_by_age on payment_conflict (detected_at);
