-- When a cancelled order was due: after its deadline, all graces, and the payment attempts that held it. Null if it was
-- cancelled by an earlier version, or if its cancellation was restored from Kafka.
alter table outbox drop column held_until;
alter table outbox add column due_at timestamptz;

-- For the search for late orders, which are few.
create index outbox_late on outbox ((written_at - due_at), order_row)
  where payment_id = '' and written_at - due_at >= interval '1 second';
