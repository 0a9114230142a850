-- When Kafka acknowledged the cancellation of an order. Not a column of the order: a new version of the
-- order's row costs an entry in each of its indexes. Rows are purged with their orders.
create table published_cancellation (
  order_id     text collate "C" not null,
  published_at timestamptz not null,
  primary key (order_id)
);
insert into published_cancellation (order_id, published_at)
select order_id, published_at from order_deadline where published_at is not null;
alter table order_deadline drop column published_at;

-- The wheels contain ids; the order's own id is not looked for there.
alter table order_deadline drop constraint order_deadline_id_order_id_key;
create index order_deadline_by_id on order_deadline (id);

-- Pending orders are searched shard by shard, by the index from which wheels are rebuilt.
drop index order_deadline_search;
create index order_deadline_search on order_deadline (state, deadline, id) where state <> 'PENDING';
