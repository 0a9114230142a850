-- How many partitions the output topic had when all of them had been read to their ends for the first
-- time. Which orders a partition may tell of is only known while that is their number.
alter table published_position add column partition_count int;
