-- The events of an order: its cancellation, and a conflict for each payment that met it too late. A row is
-- written by the transaction that decides, records the publication later, and lives as long as its order.
-- What an event says of its order is read from the order's row. Replaces the tables published_cancellation
-- and payment_conflict.
alter table outbox rename to earlier_outbox;
alter table earlier_outbox drop constraint outbox_pkey;

create table outbox (
  order_row        bigint      not null,
  -- Empty for the cancellation.
  payment_id       text        collate "C" not null default '',
  shard            integer     not null,
  paid_at          timestamptz,
  written_at       timestamptz not null default clock_timestamp(),
  -- When Kafka acknowledged it, and where. The record of an earlier release is not known.
  published_at     timestamptz,
  record_partition integer,
  record_offset    bigint,
  primary key (order_row, payment_id)
) with (autovacuum_vacuum_scale_factor = 0.02);

insert into outbox (order_row, shard, written_at, published_at)
select d.id, d.shard, d.decided_at, c.published_at
from published_cancellation c join order_deadline d on d.id = c.order_row;

insert into outbox (order_row, payment_id, shard, paid_at, written_at, published_at)
select d.id, c.payment_id, d.shard, c.paid_at, c.detected_at,
  -- A row of the earlier outbox was not published.
  case when o.id is null then coalesce(c.published_at, c.detected_at) end
from payment_conflict c
join order_deadline d on d.order_id = c.order_id
left join earlier_outbox o on o.order_id = c.order_id and o.payment_id = c.payment_id
  and o.kind = 'ORDER_PAYMENT_CONFLICT';

insert into outbox (order_row, shard, written_at)
select d.id, d.shard, o.written_at
from earlier_outbox o join order_deadline d on d.order_id = o.order_id
where o.kind = 'ORDER_CANCELLED'
-- One that is published again after a failover was published before.
on conflict (order_row, payment_id) do update set published_at = null;

-- For the events that a crash or an outage has left behind.
create index outbox_unpublished on outbox (shard, order_row, payment_id) where published_at is null;
-- For the list of conflicts, the latest first. Conflicts are rare.
create index outbox_conflicts on outbox (written_at, order_row, payment_id) where payment_id <> '';

drop table earlier_outbox, published_cancellation, payment_conflict, read_back;
