-- The offset below which each partition of the service's own output topics is reflected in the tables:
-- every decision that was published below it is the decision that the order's row contains.
create table published_position (
  topic       text collate "C" not null,
  partition   integer not null,
  -- A topic that was deleted and recreated has another id, and its offsets mean something else.
  topic_id    text    not null,
  next_offset bigint  not null,
  primary key (topic, partition)
) with (fillfactor = 50);

-- The Postgres server whose tables reflect everything that was published before it began to answer.
-- A server that was restarted, promoted or restored has another start time, and may have lost commits.
create table read_back (
  singleton         boolean     not null default true check (singleton),
  server_started_at timestamptz not null,
  primary key (singleton)
);

-- Payments that changed nothing, because their order was already paid, or closed as stale. They become
-- conflicts if it turns out that the order's cancellation had been published.
create table payment_without_effect (
  order_id    text collate "C" not null,
  payment_id  text        not null,
  paid_at     timestamptz not null,
  detected_at timestamptz not null default clock_timestamp(),
  primary key (order_id, payment_id)
);
