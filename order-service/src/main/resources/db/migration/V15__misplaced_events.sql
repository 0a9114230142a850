-- Whether a payment or closing came in another partition than its order's while the topics had that
-- many partitions. As with more than one count, an order and its payment may then be in partitions of
-- different numbers.
alter table partition_count add column misplaced boolean not null default false;
