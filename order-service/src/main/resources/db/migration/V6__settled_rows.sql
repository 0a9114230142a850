-- The latest deadline that an operator has replaced. An event that is delivered again still states it.
alter table order_deadline add column latest_deadline timestamptz;
-- The partition of the payment or closing that settled the order, if it is not the order's shard.
alter table order_deadline add column settled_in integer;

-- For the purge of settled orders. The creation of an order without a deadline is not known.
drop index order_deadline_settled;
create index order_deadline_purgeable on order_deadline (greatest(decided_at, deadline, latest_deadline))
  where state <> 'PENDING' and deadline is not null;
create index order_deadline_without_creation on order_deadline (decided_at) where deadline is null;

-- Orders whose deadlines are before this time may have been purged.
create table purge_horizon (
  only_row      boolean     not null default true check (only_row),
  orders_before timestamptz not null,
  primary key (only_row)
);
insert into purge_horizon (orders_before) values ('-infinity');

-- From now on, conflicts are purged with their orders.
delete from payment_conflict c
where not exists (select from order_deadline d where d.order_id = c.order_id);
drop index payment_conflict_by_age;

create index parked_order_by_age on parked_order (parked_at);

-- For interruptions that ended after the creation of an order, and for pauses in force.
create index shard_outage_by_end on shard_outage (shard, ended_at);
-- With the shard first, the key would be read instead, with all outages of the shard.
alter table shard_outage drop constraint shard_outage_pkey;
alter table shard_outage add primary key (began_at, shard);
create index expiry_pause_by_end on expiry_pause (coalesce(ended_at, ends_at, 'infinity'));
drop index expiry_pause_not_ended;

-- For the purge of lifted holds.
create index expiry_hold_by_age on expiry_hold (lifted_at) where lifted_at is not null;
