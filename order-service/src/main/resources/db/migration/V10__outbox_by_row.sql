-- A publication finds the event and its order by their rows' ids, whose index entries are neighbours,
-- not by order ids, which are random. The outbox needs one index instead of two.
alter table outbox add column order_row bigint; -- of the order that is cancelled
update outbox o set order_row = d.id
from order_deadline d where o.kind = 'ORDER_CANCELLED' and d.order_id = o.order_id;
alter table outbox drop constraint outbox_pkey;
drop index outbox_by_shard;
alter table outbox add primary key (shard, id);

alter table published_cancellation add column order_row bigint;
update published_cancellation c set order_row = d.id
from order_deadline d where d.order_id = c.order_id;
delete from published_cancellation where order_row is null;
alter table published_cancellation drop constraint published_cancellation_pkey;
alter table published_cancellation drop column order_id;
alter table published_cancellation add primary key (order_row);
