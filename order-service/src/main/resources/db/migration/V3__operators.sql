-- When the first event of the order was stored, and when Kafka acknowledged its cancellation.
alter table order_deadline add column registered_at timestamptz;
alter table order_deadline alter column registered_at set default clock_timestamp();
alter table order_deadline add column published_at timestamptz;
alter table payment_conflict add column published_at timestamptz;

alter table order_deadline drop constraint order_deadline_decided_by_check;
alter table order_deadline add constraint order_deadline_decided_by_check
  check (decided_by in ('PAYMENT', 'CLOSING', 'EXPIRY', 'STALE', 'OPERATOR'));

-- For the search by state and deadline.
create index order_deadline_search on order_deadline (state, deadline, order_id);

-- While a pause is in force, no order of its channel, or no order at all, is cancelled.
create table expiry_pause (
  id              bigint generated always as identity,
  -- Null for all channels.
  channel         text,
  placed_by_kind  text        not null check (placed_by_kind in ('OPERATOR', 'BREAKER')),
  placed_by       text        not null,
  reason          text        not null,
  -- Whether deadlines move by the part of the pause that their orders lived through.
  moves_deadlines boolean     not null,
  began_at        timestamptz not null default clock_timestamp(),
  -- When it ends by itself; null for never.
  ends_at         timestamptz,
  -- When it was ended before that.
  ended_at        timestamptz,
  ended_by        text,
  primary key (id),
  check (ends_at > began_at)
);

create index expiry_pause_not_ended on expiry_pause (id) where ended_at is null;

-- The circuit breakers of several instances may trip at the same time; one pause is enough.
create unique index expiry_pause_of_breaker on expiry_pause (placed_by_kind)
  where placed_by_kind = 'BREAKER' and ended_at is null;

-- The times by which deadlines move, once they are over: for a shard or all shards (null), for a channel
-- or all channels (null).
create view interruption (shard, channel, began_at, ended_at) as
  select shard, null::text, began_at, ended_at from shard_outage
  union all
  select null::integer, channel, began_at, coalesce(ended_at, ends_at)
  from expiry_pause
  where moves_deadlines and coalesce(ended_at, ends_at) <= clock_timestamp();

-- The audit log: who changed what, when and why.
create table operator_action (
  id              bigint generated always as identity,
  at              timestamptz not null default clock_timestamp(),
  actor           text        not null,
  action          text        not null,
  -- The id of the order, pause, hold or dead letter that was changed.
  subject         text collate "C" not null,
  reason          text        not null,
  before          jsonb,
  after           jsonb,
  -- The key by which the caller identifies repetitions, and the details of the first request.
  idempotency_key text,
  request         jsonb,
  primary key (id),
  unique (actor, idempotency_key)
);

create index operator_action_by_subject on operator_action (subject, id);
create index operator_action_by_time on operator_action (at);

-- The latest report of each instance; rewritten every second.
create table instance_report (
  instance    text        not null,
  reported_at timestamptz not null default clock_timestamp(),
  report      jsonb       not null,
  primary key (instance)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);

-- The activity of each instance, by minute.
create table activity (
  minute     timestamptz not null,
  instance   text        not null,
  registered bigint      not null,
  paid       bigint      not null,
  closed     bigint      not null,
  cancelled  bigint      not null,
  conflicts  bigint      not null,
  -- Number of cancellations by lateness: one for each bound of the histogram, and one beyond the last.
  lateness   bigint[]    not null,
  primary key (minute, instance)
) with (fillfactor = 50);
