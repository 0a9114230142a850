-- Before the deadline of an order, warnings are published. In seconds before the deadline, the longest first; all of
-- them, also those that are over.
alter table order_deadline add column leads integer[];
-- The number of the last warning that is over, counted from 1, whether it was sent or skipped.
alter table order_deadline add column warned smallint;

-- The outbox has warnings, too. In the place of a payment, they have their number, behind the character U+0001, with
-- which no id of a payment begins.
create index outbox_of_conflicts on outbox (written_at, order_row, payment_id) where payment_id >= E'\x02';
drop index outbox_conflicts;
