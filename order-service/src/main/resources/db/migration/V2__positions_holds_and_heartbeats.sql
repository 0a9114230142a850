-- Up to where each input partition is stored. Written in the transaction that stores the records, so
-- it is true where the consumer group's offsets need not be: reset, expired or never committed.
create table intake_position (
  topic       text collate "C" not null,
  partition   integer not null,
  -- A topic that was deleted and made anew has another id, and offsets that mean something else.
  topic_id    text    not null,
  next_offset bigint  not null,
  primary key (topic, partition)
) with (fillfactor = 50);

-- The numbers of partitions that the input topics have had since the first start. More than one means
-- that an order and its payment may be in partitions of different numbers.
create table partition_count (
  partitions integer     not null,
  noticed_at timestamptz not null default clock_timestamp(),
  primary key (partitions)
);

-- While a hold is not lifted, no order of its shard is cancelled.
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

-- Orders that Postgres refuses to have settled or cancelled, put aside so that the others proceed.
create table parked_order (
  order_id  text collate "C" not null,
  shard     integer     not null,
  reason    text        not null,
  parked_at timestamptz not null default clock_timestamp(),
  primary key (order_id)
);

-- When the owner of a shard last reached both Kafka and Postgres.
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

-- The end of the last outage by which the deadline was extended.
alter table order_deadline add column extended_until timestamptz;
