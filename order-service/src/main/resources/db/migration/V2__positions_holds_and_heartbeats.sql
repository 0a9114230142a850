-- The offset below which each input partition is stored. It is written in the transaction that stores
-- the records, so it is right even if the group's offsets were reset, expired or never committed.
create table intake_position (
  topic       text collate "C" not null,
  partition   integer not null,
  -- A topic that was deleted and recreated has another id, and its offsets mean something else.
  topic_id    text    not null,
  next_offset bigint  not null,
  primary key (topic, partition)
) with (fillfactor = 50);

-- The partition counts that the input topics have had since the first start. If there is more than
-- one, an order and its payment may be in partitions of different numbers.
create table partition_count (
  partitions integer     not null,
  noticed_at timestamptz not null default clock_timestamp(),
  primary key (partitions)
);

-- Until a hold is lifted, no order of its shard is cancelled.
create table expiry_hold (
  id        bigint generated always as identity,
  shard     integer     not null,
  reason    text        not null check (reason in ('LOST_RECORDS')),
  detail    text        not null,
  placed_at timestamptz not null default clock_timestamp(),
  lifted_at timestamptz,
  primary key (id)
);

create index expiry_hold_in_force on expiry_hold (shard) where lifted_at is null;

-- Orders that must not be cancelled for now, each for its own reason; other orders are not affected.
create table parked_order (
  order_id  text collate "C" not null,
  shard     integer     not null,
  reason    text        not null,
  parked_at timestamptz not null default clock_timestamp(),
  primary key (order_id)
);

-- When the owner of each shard last reached both Kafka and Postgres.
create table shard_heartbeat (
  shard    integer     not null,
  alive_at timestamptz not null,
  primary key (shard)
) with (fillfactor = 50);

-- The times without a heartbeat by which deadlines are extended.
create table shard_outage (
  shard    integer     not null,
  began_at timestamptz not null,
  ended_at timestamptz not null,
  primary key (shard, began_at)
);

-- The end of the last interruption that has moved the deadline.
alter table order_deadline add column extended_until timestamptz;
